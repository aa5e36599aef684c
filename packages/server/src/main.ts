#!/usr/bin/env node
import cluster from 'node:cluster'
import { runCli } from './program.ts'
import { workerTerminal } from './workers/link.ts'

const terminal = cluster.isWorker ? workerTerminal : process
process.exitCode = await runCli(process.argv.slice(2), process.env, terminal)
