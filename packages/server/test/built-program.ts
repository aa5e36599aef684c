import { type ChildProcess, spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { vi } from 'vitest'

// Built by `npm test` before the tests run.
const program = fileURLToPath(new URL('../dist/main.js', import.meta.url))

/** The command line as a process of its own. */
export interface Program {
  readonly child: ChildProcess
  /** Returns everything that the process has printed. */
  readonly output: () => string
  /** Resolves with the exit code, or with null if a signal ended the process. */
  readonly ended: Promise<number | null>
}

export function startProgram(
  args: readonly string[],
  environment: Readonly<Record<string, string>>,
): Program {
  const child = spawn(process.execPath, [program, ...args], {
    env: environment,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk) => {
      output += chunk
    })
  }
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve))
  return { child, output: () => output, ended }
}

/** Waits until a started service serves requests. */
export async function untilServing({ child, output }: Program, url: string): Promise<void> {
  await vi.waitUntil(
    async () => {
      if (child.exitCode !== null) throw new Error(`It ended: ${output()}`)
      return fetch(`${url}/healthz`).then(
        ({ status }) => status === 200,
        () => false,
      )
    },
    { timeout: 120_000, interval: 100 },
  )
}

/** Runs a command to its end, and returns what it printed. */
export async function runProgram(
  args: readonly string[],
  environment: Readonly<Record<string, string>>,
): Promise<string> {
  const { output, ended } = startProgram(args, environment)
  if ((await ended) !== 0) throw new Error(output())
  return output()
}
