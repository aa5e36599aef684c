import { type ChildProcess, spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { findFreePort } from './free-port.ts'

/** An example application, started as its reader would start it, on a free port. */
export interface ExampleApp {
  readonly url: string
  /** The client that the application printed at its start. */
  readonly client: { readonly id: string; readonly secret: string }
  fetch(path: string | URL, init?: RequestInit): Promise<Response>
  /** Resolves when a matching line has been printed. */
  printed(pattern: RegExp): Promise<string>
  /** Sends SIGTERM. Resolves with the exit code. */
  stop(): Promise<number | null>
}

export interface ExampleCommand {
  /** Name of the folder below examples/. */
  readonly name: string
  /** Arguments of `node` in that folder. */
  readonly args: readonly string[]
}

export interface ExampleProcess {
  readonly url: string
  /** Resolves when the process has printed a matching text. */
  waitFor(pattern: RegExp): Promise<RegExpExecArray>
  /** Sends SIGTERM. Resolves with the exit code. */
  stop(): Promise<number | null>
}

export async function startExample(command: ExampleCommand): Promise<ExampleApp> {
  const { url, waitFor, stop } = await startExampleProcess(command)
  const start = await waitFor(/client_id=(\S+) -d client_secret=(\S+).*Payments:/s)
  const [, id = '', secret = ''] = start
  return {
    url,
    client: { id, secret },
    fetch: (path, init) => fetch(new URL(path, url), { redirect: 'manual', ...init }),
    printed: async (pattern) => (await waitFor(pattern))[0],
    stop,
  }
}

/** Starts an example and collects its output. */
export async function startExampleProcess({ name, args }: ExampleCommand): Promise<ExampleProcess> {
  const port = await findFreePort()
  const url = `http://localhost:${port}`
  const child = spawn(process.execPath, args, {
    cwd: exampleFolder(name),
    env: withoutTests({ PORT: String(port), STRIPE_SECRET: '', DATABASE_URL: undefined }),
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const output = readOutput(child)
  const exited = new Promise<number | null>((resolve) => child.once('exit', resolve))
  return {
    url,
    waitFor: output.waitFor,
    stop() {
      child.kill('SIGTERM')
      return exited
    },
  }
}

export function exampleFolder(name: string): string {
  return fileURLToPath(new URL(`../examples/${name}`, import.meta.url))
}

/** The environment of a user who types the command, without variables of the test runner. */
export function withoutTests(changes: Record<string, string | undefined>): NodeJS.ProcessEnv {
  const own = Object.entries(process.env).filter(([key]) => !/^(VITEST|TEST|NODE_ENV)/.test(key))
  return {
    ...Object.fromEntries(own),
    NEXT_TELEMETRY_DISABLED: '1',
    ...changes,
  } as NodeJS.ProcessEnv
}

function readOutput(child: ChildProcess) {
  let text = ''
  let ended = false
  const waiting = new Set<() => void>()
  const wake = () => {
    for (const check of waiting) check()
  }
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on('data', (chunk) => {
      text += chunk
      wake()
    })
  }
  child.once('exit', () => {
    ended = true
    wake()
  })
  return {
    waitFor: (pattern: RegExp) =>
      new Promise<RegExpExecArray>((resolve, reject) => {
        const check = () => {
          const found = pattern.exec(text)
          if (!found && !ended) return
          waiting.delete(check)
          if (found) resolve(found)
          else reject(new Error(`The example ended before it printed ${pattern}:\n${text}`))
        }
        waiting.add(check)
        check()
      }),
  }
}
