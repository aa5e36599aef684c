import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ConfigurationError } from '../configuration-error.ts'
import { isListening } from './is-listening.ts'

/** Who uses a demo's data folder, as written down in it. */
interface Occupant {
  readonly pid: number
  readonly port: number
  readonly url: string
}

const fileIn = (dataDir: string) => join(dataDir, 'running.json')

/**
 * Takes a demo's data folder for this process, and gives the function that leaves it. Two services on
 * one folder would write over each other's sandbox.
 */
export async function occupyDataFolder(
  dataDir: string,
  address: Pick<Occupant, 'port' | 'url'>,
): Promise<() => void> {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  const occupant: Occupant = { pid: process.pid, ...address }
  if (!writeIfFree(dataDir, occupant)) {
    const other = readOccupant(dataDir)
    // A service that had our port is gone, or we would not have it.
    const gone = !other || other.port === address.port || !(await isRunning(other))
    if (!gone) throw inUse(dataDir, other)
    // Whoever wrote it was killed.
    rmSync(fileIn(dataDir), { force: true })
    if (!writeIfFree(dataDir, occupant)) throw inUse(dataDir, readOccupant(dataDir))
  }
  return () => {
    if (readOccupant(dataDir)?.port === occupant.port) rmSync(fileIn(dataDir), { force: true })
  }
}

/** Finds the address of the demo that runs on a data folder. `null` if none does. */
export async function findRunningDemo(dataDir: string): Promise<string | null> {
  const occupant = readOccupant(dataDir)
  return occupant && (await isRunning(occupant)) ? occupant.url : null
}

function writeIfFree(dataDir: string, occupant: Occupant): boolean {
  try {
    writeFileSync(fileIn(dataDir), `${JSON.stringify(occupant)}\n`, { mode: 0o600, flag: 'wx' })
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    return false
  }
}

function readOccupant(dataDir: string): Occupant | null {
  try {
    const { pid, port, url } = JSON.parse(readFileSync(fileIn(dataDir), 'utf8'))
    return Number.isInteger(pid) && Number.isInteger(port) ? { pid, port, url } : null
  } catch {
    // Gone again, or cut off by a full disk: it names nobody.
    return null
  }
}

/** Both must be true: process ids are used again, and so are ports. */
async function isRunning({ pid, port }: Occupant): Promise<boolean> {
  return isAlive(pid) && (await isListening(`http://127.0.0.1:${port}`))
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    // Somebody else's process is alive as well.
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

function inUse(dataDir: string, other: Occupant | null): ConfigurationError {
  const who = other ? `the service at ${other.url} (process ${other.pid})` : 'another service'
  return new ConfigurationError(
    `The data folder ${dataDir} is in use by ${who}. Stop that one, or give this one a folder of its own: TOLLGATE_DATA_DIR=${dataDir}-2`,
  )
}
