import { randomUUID } from 'node:crypto'
import {
  readFileSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { hostname } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

/** The process that has a state file open, as `FILE.lock` says. */
interface Owner {
  /** Tells one lock from another. */
  readonly id: string
  readonly pid: number
  /** Differs between processes of the same pid. Null where Node cannot tell, outside Linux. */
  readonly started: string | null
  /** The machine or container in which `pid` means something. */
  readonly place: string
  /** The path of the lock. A lock that was copied along with a state file is at another. */
  readonly path: string
}

/** Keeps a state file for one sandbox until it is released. */
export interface StateLock {
  release(): void
}

/** Milliseconds between signs of life, which processes in other places look for. */
const BEAT = 2000
/** Milliseconds without a sign of life after which a process in another place counts as killed. */
const SILENCE = 30_000
/** Milliseconds after which a lock that says nothing counts as left by a process that was killed while it wrote it. */
const UNWRITTEN = 1000

/**
 * Takes the lock of a state file. A lock that a killed process has left is taken over: at once if it was on this
 * machine, else after half a minute without a sign of life.
 * @throws Error if another sandbox has the file open, in this process or another.
 */
export async function lockStateFile(
  file: string,
  waits: { readonly silence?: number; readonly unwritten?: number } = {},
): Promise<StateLock> {
  const lock = `${file}.lock`
  const { silence = SILENCE, unwritten = UNWRITTEN } = waits
  for (;;) {
    const own = createLock(lock)
    if (own) return keep(lock, own)
    const seen = readLock(lock)
    if (seen === null) continue
    const limit = seen.owner ? silence : unwritten
    if (!isGone(seen.owner, lock) && (await showsLife(lock, seen, limit))) {
      const by = seen.owner
        ? `process ${seen.owner.pid} on ${seen.owner.place.split(' ')[0]}`
        : 'a process that is starting'
      throw new Error(
        `The state file ${file} is in use by another sandbox (${by}). Two sandboxes would overwrite each other's changes: stop that one, or give this one another file.`,
      )
    }
    removeLock(lock, seen)
  }
}

function createLock(lock: string): Owner | null {
  const { pid } = process
  const place = placeOf()
  const own = { id: randomUUID(), pid, started: startOf(pid), place, path: pathOf(lock) }
  try {
    writeFileSync(lock, JSON.stringify(own), { flag: 'wx', mode: 0o600 })
    return own
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return null
    throw error
  }
}

function keep(lock: string, own: Owner): StateLock {
  const beat = setInterval(() => {
    try {
      utimesSync(lock, new Date(), new Date())
    } catch {
      // The folder was deleted. The next write to the state tells.
    }
  }, BEAT)
  beat.unref()
  return {
    release() {
      clearInterval(beat)
      if (readLock(lock)?.owner?.id === own.id) rmSync(lock, { force: true })
    },
  }
}

interface SeenLock {
  /** Null while it is being written, or when its process was killed meanwhile. */
  readonly owner: Owner | null
  readonly text: string
  readonly touched: number
}

/** Null when there is none any more. */
function readLock(lock: string): SeenLock | null {
  try {
    const text = readFileSync(lock, 'utf8')
    return { owner: parseOwner(text), text, touched: statSync(lock).mtimeMs }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw error
  }
}

function parseOwner(text: string): Owner | null {
  try {
    return JSON.parse(text) as Owner
  } catch {
    return null
  }
}

/** Whether it is certain that the owner has ended, or has another file: its place is this one, and it is not there. */
function isGone(owner: Owner | null, lock: string): boolean {
  if (owner?.place !== placeOf()) return false
  if (owner.path !== pathOf(lock)) return true
  try {
    process.kill(owner.pid, 0)
  } catch (error) {
    // EPERM is a process of another user.
    return (error as NodeJS.ErrnoException).code === 'ESRCH'
  }
  return owner.started !== startOf(owner.pid)
}

async function showsLife(lock: string, seen: SeenLock, limit: number): Promise<boolean> {
  // Processes that Node can tell apart need no sign of life, which one that is busy or stopped does not give.
  if (seen.owner?.started && seen.owner.place === placeOf()) return true
  for (let waited = 0; waited < limit; waited += 100) {
    await sleep(100)
    const now = readLock(lock)
    if (now === null) return false
    if (now.text !== seen.text || now.touched !== seen.touched) return true
  }
  return false
}

/** Removes the lock that was seen, and no other: somebody else may have been faster. */
function removeLock(lock: string, seen: SeenLock): void {
  const aside = `${lock}-${randomUUID()}`
  try {
    if (readLock(lock)?.text !== seen.text) return
    renameSync(lock, aside)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return
    throw error
  }
  if (readLock(aside)?.text === seen.text) rmSync(aside, { force: true })
  else renameSync(aside, lock)
}

/** The path without symbolic links. */
function pathOf(lock: string): string {
  return join(realpathSync(dirname(lock)), basename(lock))
}

/** Containers may share a name and a folder; their processes have numbers of their own. */
function placeOf(): string {
  try {
    return `${hostname()} ${readlinkSync('/proc/self/ns/pid')}`
  } catch {
    return hostname()
  }
}

/** Field 22 of `/proc/PID/stat`: the start in ticks since the machine booted. The second field may contain blanks. */
function startOf(pid: number): string | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? null
  } catch {
    return null
  }
}
