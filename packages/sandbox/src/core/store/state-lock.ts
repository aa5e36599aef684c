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

/** The process that has a state file open, as recorded in `FILE.lock`. */
interface Owner {
  /** Random id that identifies this lock. */
  readonly id: string
  readonly pid: number
  /**
   * Start time of the process, which tells apart processes that reused a pid. `null` outside Linux,
   * where Node cannot read it.
   */
  readonly started: string | null
  /** The machine or container in which `pid` is valid. */
  readonly place: string
  /**
   * Path of the lock file. If it differs from the actual path, the lock was copied together with
   * its state file.
   */
  readonly path: string
}

/** The right to use a state file exclusively. */
export interface StateLock {
  release(): void
}

/**
 * Interval in milliseconds at which the lock file's time is updated, as a heartbeat for other
 * machines and containers.
 */
const HEARTBEAT_INTERVAL = 2000
/** Milliseconds without a heartbeat after which a process on another machine counts as dead. */
const HEARTBEAT_TIMEOUT = 30_000
/**
 * Milliseconds after which an empty lock file counts as abandoned by a process that was killed
 * while writing it.
 */
const EMPTY_LOCK_TIMEOUT = 1000

/**
 * Locks a state file for this process. Takes over the lock of a killed process: immediately if that
 * process ran on this machine, otherwise after half a minute without a heartbeat.
 * @throws {Error} If another sandbox has the file open, in this process or another.
 */
export async function lockStateFile(
  file: string,
  waits: { readonly silence?: number; readonly unwritten?: number } = {},
): Promise<StateLock> {
  const lock = `${file}.lock`
  const { silence = HEARTBEAT_TIMEOUT, unwritten = EMPTY_LOCK_TIMEOUT } = waits
  for (;;) {
    const own = createLock(lock)
    if (own) return holdLock(lock, own)
    const seen = readLock(lock)
    if (seen === null) continue
    const limit = seen.owner ? silence : unwritten
    if (!isGone(seen.owner, lock) && (await isAlive(lock, seen, limit))) {
      const by = seen.owner
        ? `process ${seen.owner.pid} on ${seen.owner.place.split(' ')[0]}`
        : 'a process that is starting'
      throw new Error(
        `The state file ${file} is in use by another sandbox (${by}). Two sandboxes would overwrite each other's changes: stop the other one, or use another file for this one.`,
      )
    }
    removeLock(lock, seen)
  }
}

function createLock(lock: string): Owner | null {
  const { pid } = process
  const place = currentPlace()
  const own = { id: randomUUID(), pid, started: startTimeOf(pid), place, path: pathOf(lock) }
  try {
    writeFileSync(lock, JSON.stringify(own), { flag: 'wx', mode: 0o600 })
    return own
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return null
    throw error
  }
}

function holdLock(lock: string, own: Owner): StateLock {
  const beat = setInterval(() => {
    try {
      utimesSync(lock, new Date(), new Date())
    } catch {
      // The folder was deleted. The next write to the state tells.
    }
  }, HEARTBEAT_INTERVAL)
  beat.unref()
  return {
    release() {
      clearInterval(beat)
      if (readLock(lock)?.owner?.id === own.id) rmSync(lock, { force: true })
    },
  }
}

interface SeenLock {
  /** `null` while the lock is being written, or if its process was killed while writing it. */
  readonly owner: Owner | null
  readonly text: string
  readonly touched: number
}

/** Reads the lock file. `null` if it no longer exists. */
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

/**
 * Whether the lock is certainly abandoned: the owner ran on this machine and has ended, or the lock
 * file was copied from another path.
 */
function isGone(owner: Owner | null, lock: string): boolean {
  if (owner?.place !== currentPlace()) return false
  if (owner.path !== pathOf(lock)) return true
  try {
    process.kill(owner.pid, 0)
  } catch (error) {
    // EPERM means that the process exists and belongs to another user.
    return (error as NodeJS.ErrnoException).code === 'ESRCH'
  }
  return owner.started !== startTimeOf(owner.pid)
}

async function isAlive(lock: string, seen: SeenLock, limit: number): Promise<boolean> {
  // A start time identifies the process reliably. Waiting for a heartbeat would misjudge a process
  // that is busy or stopped.
  if (seen.owner?.started && seen.owner.place === currentPlace()) return true
  for (let waited = 0; waited < limit; waited += 100) {
    await sleep(100)
    const now = readLock(lock)
    if (now === null) return false
    if (now.text !== seen.text || now.touched !== seen.touched) return true
  }
  return false
}

/** Removes the lock that was read, unless another process has replaced it in the meantime. */
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

/** Resolves symbolic links in the path of the lock. */
function pathOf(lock: string): string {
  return join(realpathSync(dirname(lock)), basename(lock))
}

/**
 * Identifies the machine and the pid namespace, because containers may share a host name and a
 * folder but not process ids.
 */
function currentPlace(): string {
  try {
    return `${hostname()} ${readlinkSync('/proc/self/ns/pid')}`
  } catch {
    return hostname()
  }
}

/**
 * Reads field 22 of `/proc/PID/stat`: the start time in ticks since boot. The second field may
 * contain spaces.
 */
function startTimeOf(pid: number): string | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? null
  } catch {
    return null
  }
}
