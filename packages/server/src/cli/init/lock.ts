import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { UsageError } from '../usage-error.ts'

/** Name of the file that holds the id of the process that works in the folder. */
export const INIT_LOCK_FILE = '.tollgate-init.lock'

/**
 * Runs `work` while no other process does so in this folder. A lock file of a process that was
 * killed does no harm.
 * @throws UsageError if another process works in the folder, or the folder is not writable.
 */
export async function runExclusively<T>(folder: string, work: () => Promise<T>): Promise<T> {
  const file = join(folder, INIT_LOCK_FILE)
  const owner = readOwner(file)
  if (owner !== null && !isAlive(owner)) rmSync(file, { force: true })
  try {
    writeFileSync(file, String(process.pid), { flag: 'wx' })
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    if (code !== 'EEXIST') throw new UsageError(`Nothing can be written to ${folder}: ${message}`)
    throw new UsageError(
      `Another tollgate init (process ${readOwner(file)}) works in ${folder}. Wait until it has ended, or stop it and delete ${INIT_LOCK_FILE}.`,
    )
  }
  try {
    return await work()
  } finally {
    rmSync(file, { force: true })
  }
}

/** Returns the id of the process that has written the lock file. `null` if there is no such file. */
function readOwner(file: string): number | null {
  try {
    return Number(readFileSync(file, 'utf8'))
  } catch {
    return null
  }
}

function isAlive(pid: number): boolean {
  try {
    // Signal 0 sends nothing; it only checks that the process exists.
    return pid > 0 && process.kill(pid, 0)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
