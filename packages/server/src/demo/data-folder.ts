import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { ConfigurationError } from '../configuration-error.ts'

/** The process that uses a demo's data folder, as written to a file in it. */
interface FolderOwner {
  readonly pid: number
  readonly port: number
  readonly url: string
}

const fileIn = (dataDir: string) => join(dataDir, 'running.json')

/**
 * Claims a demo's data folder for this process, and returns a function that releases it. Two
 * services on one folder would overwrite each other's sandbox.
 * @throws ConfigurationError if another running service uses the folder.
 */
export async function claimDataFolder(
  dataDir: string,
  address: Pick<FolderOwner, 'port' | 'url'>,
): Promise<() => void> {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  const occupant: FolderOwner = { pid: process.pid, ...address }
  if (!writeIfFree(dataDir, occupant)) {
    const other = readOccupant(dataDir)
    // The other service cannot be running if this process was able to bind the same port.
    const gone = !other || other.port === address.port || !(await isRunning(other))
    if (!gone) throw createFolderInUseError(dataDir, other)
    // The process that wrote the file was killed.
    rmSync(fileIn(dataDir), { force: true })
    if (!writeIfFree(dataDir, occupant))
      throw createFolderInUseError(dataDir, readOccupant(dataDir))
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

function writeIfFree(dataDir: string, occupant: FolderOwner): boolean {
  try {
    writeFileSync(fileIn(dataDir), `${JSON.stringify(occupant)}\n`, { mode: 0o600, flag: 'wx' })
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    return false
  }
}

function readOccupant(dataDir: string): FolderOwner | null {
  try {
    const { pid, port, url } = JSON.parse(readFileSync(fileIn(dataDir), 'utf8'))
    return Number.isInteger(pid) && Number.isInteger(port) ? { pid, port, url } : null
  } catch {
    // The file was deleted meanwhile, or truncated by a full disk.
    return null
  }
}

/**
 * Checks both the process and the port, because operating systems reuse process ids and port
 * numbers.
 */
async function isRunning({ pid, port }: FolderOwner): Promise<boolean> {
  return isAlive(pid) && (await isListening(`http://127.0.0.1:${port}`))
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    // A process of another user is alive, too.
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

function createFolderInUseError(dataDir: string, other: FolderOwner | null): ConfigurationError {
  const who = other ? `the service at ${other.url} (process ${other.pid})` : 'another service'
  return new ConfigurationError(
    `The data folder ${dataDir} is in use by ${who}. Stop it, or choose another folder for this one: TOLLGATE_DATA_DIR=${dataDir}-2`,
  )
}

/** Whether a server accepts connections at the address. Waits at most a second. */
export function isListening(url: string): Promise<boolean> {
  const { hostname, port } = new URL(url)
  return new Promise((resolve) => {
    const socket = connect({ host: hostname, port: Number(port), timeout: 1000 })
    const settle = (answer: boolean) => {
      socket.destroy()
      resolve(answer)
    }
    socket.once('connect', () => settle(true))
    socket.once('error', () => settle(false))
    socket.once('timeout', () => settle(false))
  })
}
