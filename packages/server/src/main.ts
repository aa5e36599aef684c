#!/usr/bin/env node
import cluster from 'node:cluster'
import { runCli } from './program.ts'
import { workerTerminal } from './workers/link.ts'

const terminal = cluster.isWorker ? workerTerminal : process
process.exitCode = await runCli(process.argv.slice(2), process.env, terminal)

// An application's module may keep connections of its own open, which only end with the process.
if (process.argv.some((word) => /^--config(=|$)/.test(word))) {
  process.stdout.write('', () => setTimeout(() => process.exit(), 1000).unref())
}
