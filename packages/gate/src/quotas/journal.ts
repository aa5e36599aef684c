import { randomUUID } from 'node:crypto'
import {
  accessSync,
  appendFileSync,
  constants,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs'
import { join } from 'node:path'
import type { Logger } from '../context.ts'
import type { QuotaTarget } from './leases.ts'

/** One use that was admitted, and is to be counted once. */
export interface OutageUse {
  /** Unique id, by which use that was counted before is recognized. */
  readonly id: string
  readonly target: QuotaTarget
  readonly amount: number
}

/** Use that was admitted while the database was away, on disk, so that a crash does not lose it. */
export interface Journal {
  /** Writes one use before it is admitted. Throws if it cannot be written. */
  append(use: OutageUse): void
  /**
   * Passes every use to `count`, also that of processes that have crashed. May pass one more than
   * once: `count` must recognize its id.
   */
  replay(count: (use: OutageUse) => Promise<unknown>): Promise<void>
}

const OPEN = '.open.jsonl'
const CLOSED = '.closed.jsonl'
/**
 * Milliseconds for which a closed file is kept after its last change: a process that had opened it
 * just before it was closed may still append to it.
 */
const KEPT = 60_000

/**
 * Opens the journal in a folder, which the processes of a machine may share. A process appends to an
 * open file of its own. To replay, any process closes the files of all by renaming them; the owner
 * then begins another. No lock and no process id is needed, because counting a use twice has no effect.
 * @throws TypeError if the folder cannot be written
 */
export function openJournal(folder: string, logger: Logger): Journal {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    accessSync(folder, constants.R_OK | constants.W_OK)
  } catch (cause) {
    throw new TypeError(
      `journal: ${JSON.stringify(folder)} is not a folder that this process can write. Create it, or give another.`,
      { cause },
    )
  }
  const own = join(folder, `${randomUUID()}${OPEN}`)
  /** Sizes up to which this process has replayed closed files. */
  const replayed = new Map<string, number>()

  function closeAll(): void {
    for (const name of readdirSync(folder)) {
      if (!name.endsWith(OPEN)) continue
      const closed = `${name.slice(0, -OPEN.length)}-${randomUUID()}${CLOSED}`
      ignoreMissing(() => renameSync(join(folder, name), join(folder, closed)))
    }
  }

  function read(name: string): { readonly uses: readonly OutageUse[]; readonly size: number } {
    const bytes = readFileSync(join(folder, name))
    const lines = bytes.toString('utf8').split('\n').filter(Boolean)
    const uses = lines.flatMap((line) => parseUse(line) ?? [])
    if (uses.length < lines.length) {
      logger.warn(
        `${join(folder, name)} has lines that a crash cut short; their use was not admitted`,
      )
    }
    return { uses, size: bytes.length }
  }

  async function replayFile(
    name: string,
    count: (use: OutageUse) => Promise<unknown>,
  ): Promise<void> {
    const path = join(folder, name)
    const { size, mtimeMs } = statSync(path)
    if (replayed.get(name) === size) {
      if (Date.now() - mtimeMs < KEPT) return
      rmSync(path, { force: true })
      replayed.delete(name)
      return
    }
    const found = read(name)
    for (const use of found.uses) await count(use)
    replayed.set(name, found.size)
  }

  return {
    append(use) {
      // A line that was cut short, as on a full disk, does not spoil the next one.
      appendFileSync(own, `\n${formatUse(use)}\n`, { mode: 0o600 })
    },
    async replay(count) {
      closeAll()
      for (const name of readdirSync(folder)) {
        if (!name.endsWith(CLOSED)) continue
        try {
          await replayFile(name, count)
        } catch (error) {
          // Another process has deleted it: all of it is counted.
          if (!isMissing(error)) throw error
          replayed.delete(name)
        }
      }
    },
  }
}

function formatUse({ id, target, amount }: OutageUse): string {
  const { subject, meter, window } = target
  const [startsAt, endsAt] = [window.startsAt.getTime(), window.endsAt.getTime()]
  return JSON.stringify({ id, subject, meter, startsAt, endsAt, amount })
}

/** Returns `null` for a line that was cut short. */
function parseUse(line: string): OutageUse | null {
  try {
    const { id, subject, meter, startsAt, endsAt, amount } = JSON.parse(line)
    const window = { startsAt: new Date(startsAt), endsAt: new Date(endsAt) }
    return { id, target: { subject, meter, window, quota: null }, amount }
  } catch {
    return null
  }
}

const isMissing = (error: unknown) => (error as NodeJS.ErrnoException | null)?.code === 'ENOENT'

/** Does nothing if another process was faster. */
function ignoreMissing(work: () => void): void {
  try {
    work()
  } catch (error) {
    if (!isMissing(error)) throw error
  }
}
