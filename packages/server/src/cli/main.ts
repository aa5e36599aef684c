#!/usr/bin/env node
import { CommanderError } from 'commander'
import { createProgram } from './program.ts'
import { reportError } from './report-error.ts'

try {
  await createProgram(process.env).parseAsync()
} catch (error) {
  // commander has said what it had to say, and set the exit code.
  if (!(error instanceof CommanderError)) process.exitCode = reportError(error, false)
}
