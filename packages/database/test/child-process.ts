import { type ChildProcess, spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

export interface Child {
  /** Every line that the process has printed. */
  readonly lines: readonly string[]
  /** Resolves when the process has printed this many lines. */
  untilLines(count: number): Promise<void>
  /** Resolves with the exit code, or `null` if the process was killed. */
  readonly ended: Promise<number | null>
  /** Writes a line to the standard input of the process. */
  tell(line: string): void
  kill(): void
}

const script = fileURLToPath(new URL('./child.mjs', import.meta.url))
const running = new Set<ChildProcess>()

/** Starts another process that runs one of the jobs in `child.mjs` with the built package. */
export function startChild(job: string, ...args: string[]): Child {
  return follow(process.execPath, [script, job, ...args])
}

/** Starts a child process in which every write beyond about half a megabyte of a file fails. */
export function startChildWithSmallFiles(job: string, ...args: string[]): Child {
  const limit = 'trap "" XFSZ; ulimit -f 1000; exec "$@"'
  return follow('sh', ['-c', limit, 'sh', process.execPath, script, job, ...args])
}

function follow(command: string, args: readonly string[]): Child {
  const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'] })
  running.add(child)
  const lines: string[] = []
  const watchers = new Set<() => void>()
  const reader = createInterface({ input: child.stdout })
  reader.on('line', (line) => {
    lines.push(line)
    for (const watch of watchers) watch()
  })
  const closed = new Promise((resolve) => reader.once('close', resolve))
  const ended = new Promise<number | null>((resolve) => {
    child.once('exit', async (code) => {
      running.delete(child)
      await closed
      resolve(code)
    })
  })
  return {
    lines,
    ended,
    untilLines: (count) =>
      new Promise((resolve, reject) => {
        const watch = () => {
          if (lines.length < count) return
          watchers.delete(watch)
          resolve()
        }
        watchers.add(watch)
        watch()
        ended.then(() => reject(new Error(`The child ended after ${lines.length} lines`)))
      }),
    tell: (line) => child.stdin.write(`${line}\n`),
    kill: () => child.kill('SIGKILL'),
  }
}

process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL')
})
