#!/usr/bin/env node
import { serve } from '../serve.ts'

serve(process.env).catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
  process.exitCode = 1
})
