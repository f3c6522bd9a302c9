// Runs before every test file.
export {};
