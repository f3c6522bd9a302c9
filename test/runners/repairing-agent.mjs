// An agent that repairs what its task is about. Usage: node repairing-agent.mjs <repairs.json>
// repairs.json: [{ about: text in the task's title, attempt: the attempt that does it, file, from, to }]. In an earlier attempt, and for a
// task it knows nothing of, it leaves a file behind that helps nobody.
import fs from 'node:fs';

const repairs = JSON.parse(fs.readFileSync(process.argv[2], 'utf8'));
const title = process.env.GYRE_TASK_TITLE ?? '';
const attempt = Number(process.env.GYRE_ATTEMPT);
const repair = repairs.find((one) => title.includes(one.about));
if (repair === undefined || attempt < repair.attempt) fs.writeFileSync(`tried-${attempt}.txt`, `${title}\n`);
else fs.writeFileSync(repair.file, fs.readFileSync(repair.file, 'utf8').replace(repair.from, repair.to));
