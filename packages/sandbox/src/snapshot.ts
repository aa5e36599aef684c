import { readFile, rename, writeFile } from 'node:fs/promises'
import type { StoreSnapshot } from './store.ts'

export interface SandboxSnapshot {
  readonly version: 1
  /** The clock, as ISO 8601. */
  readonly now: string
  readonly store: StoreSnapshot
}

/** The state a file holds; null when there is no file. */
export async function readSnapshot(file: string | undefined): Promise<SandboxSnapshot | null> {
  if (file === undefined) return null
  let text: string
  try {
    text = await readFile(file, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw error
  }
  return parseSnapshot(text, file)
}

function parseSnapshot(text: string, file: string): SandboxSnapshot {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    value = null
  }
  const snapshot = value as Partial<SandboxSnapshot> | null
  if (snapshot?.version !== 1 || typeof snapshot.now !== 'string' || !snapshot.store) {
    throw new TypeError(`${file} is not a state file of this sandbox`)
  }
  return snapshot as SandboxSnapshot
}

/** Written beside and moved into place, so that a crash leaves the old state or the new. */
export async function writeSnapshot(file: string, snapshot: SandboxSnapshot): Promise<void> {
  const beside = `${file}.new`
  await writeFile(beside, JSON.stringify(snapshot))
  await rename(beside, file)
}
