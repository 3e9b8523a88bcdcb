#!/usr/bin/env node
// An agent in Node without any library: it collects the TODO comments of a workspace in
// TODO.md. Everything of the contract that it uses stands in this one file.

import { execFile } from "node:child_process";
import { appendFileSync, existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";

const TARGET = "TODO.md";
const COMMENT = /(?:#|\/\/|\/\*|--|<!--)\s*TODO:?\s*(.*?)\s*(?:\*\/|-->)?\s*$/;

const task = JSON.parse(readFileSync(variable("CAESAR_TASK_FILE"), "utf8"));
if (task.protocol !== "caesar.task/v1") {
  stop(`the task has protocol ${JSON.stringify(task.protocol)}, this agent reads caesar.task/v1`);
}

function variable(name) {
  return process.env[name] || stop(`${name} is not set: an orchestrator sets it`);
}

function stop(problem) {
  process.stderr.write(`agent.mjs: ${problem}\n`);
  process.exit(2);
}

// Events are optional: without them an agent is merely invisible while it works. One write
// in append mode for each line, so that lines of several writers do not mix.
let seq = 0;
if (process.env.CAESAR_EVENTS_PATH && existsSync(process.env.CAESAR_EVENTS_PATH)) {
  // Whoever wrote before us has taken some numbers.
  for (const line of readFileSync(process.env.CAESAR_EVENTS_PATH, "utf8").split("\n")) {
    try {
      seq = Math.max(seq, JSON.parse(line).seq + 1);
    } catch {
      continue;
    }
  }
}

function tell(type, fields) {
  if (!process.env.CAESAR_EVENTS_PATH) return;
  const event = {
    protocol: "caesar.event/v1",
    seq: seq++,
    at: new Date().toISOString(),
    task_id: task.id,
    type,
    ...fields,
  };
  appendFileSync(process.env.CAESAR_EVENTS_PATH, `${JSON.stringify(event)}\n`);
}

// A report is written beside its place and renamed, so that nobody ever reads half of it.
function report(status, summary, more = {}) {
  const path = variable("CAESAR_REPORT_PATH");
  const value = { protocol: "caesar.report/v1", task_id: task.id, status, summary, ...more };
  writeFileSync(`${path}.${process.pid}.tmp`, `${JSON.stringify(value, null, 2)}\n`);
  renameSync(`${path}.${process.pid}.tmp`, path);
  tell("finished", { status, summary });
}

// Signals are heard between two awaits, so what takes long must not be synchronous; and
// what was started has to be stopped too.
const stopping = new AbortController();
process.on("SIGTERM", () => {
  stopping.abort();
  report("failed", "Stopped by SIGTERM before the work was done.");
  process.exit(1);
});
process.on("uncaughtException", (error) => {
  tell("error", { message: String(error), fatal: true });
  report("failed", `The agent failed: ${error}`, { details: error.stack ?? "" });
  process.exit(1);
});

async function collect() {
  const options = { maxBuffer: 1 << 28, signal: stopping.signal };
  const { stdout } = await promisify(execFile)("git", ["ls-files", "-z"], options);
  const files = stdout
    .split("\0")
    .filter((path) => path && path !== TARGET)
    .sort();
  tell("progress", { message: `reading ${files.length} files`, pct: 10 });
  const found = [];
  for (const file of files) {
    let text;
    try {
      text = await readFile(file, "utf8");
    } catch {
      continue; // a link to nowhere, or a submodule
    }
    text.split("\n").forEach((line, index) => {
      const match = COMMENT.exec(line);
      if (match) found.push({ file, line: index + 1, title: match[1] || "TODO" });
    });
  }
  return found;
}

process.chdir(task.workspace);
const found = await collect();
const findings = found.map(({ file, line, title }) => ({ severity: "info", title, file, line }));
const many = `${found.length} ${found.length === 1 ? "comment" : "comments"}`;

if (task.mode === "read-only") {
  report("success", `Found ${many}.`, { findings });
} else {
  const list = found.map(({ file, line, title }) => `- ${title} (${file}:${line})\n`).join("");
  const text = `# To do\n\n${list || "Nothing.\n"}`;
  const before = existsSync(TARGET) ? readFileSync(TARGET, "utf8") : null;
  const changes = [];
  // Only what really changed is declared: a file that is as it was is no change.
  if (before !== text) {
    writeFileSync(join(task.workspace, TARGET), text);
    const action = before === null ? "created" : "modified";
    changes.push({ path: TARGET, action, summary: `lists ${many}` });
    tell("file_changed", { path: TARGET, action });
  }
  const summary = changes.length ? `Listed ${many} in ${TARGET}.` : `${TARGET} is up to date.`;
  report("success", summary, { changes, findings });
}
