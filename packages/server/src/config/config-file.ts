import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { parseSettings, type Settings } from './settings.ts'

const NAMES = ['tollgate.config.ts', 'tollgate.config.mjs', 'tollgate.config.js']

/** The settings of `tollgate.config.ts` in the folder, or of the file named; the defaults without one. */
export async function loadSettings(folder: string, named: string | null): Promise<Settings> {
  const file = named === null ? findFile(folder) : resolve(folder, named)
  if (file === null) return parseSettings({})
  if (!existsSync(file)) throw new TypeError(`TOLLGATE_CONFIG names ${file}, which does not exist`)
  // Only whoever has such a file pays for the loader.
  const { createJiti } = await import('jiti')
  const loaded = await createJiti(import.meta.url).import<unknown>(file, { default: true })
  return parseSettings(loaded, file)
}

function findFile(folder: string): string | null {
  return NAMES.map((name) => resolve(folder, name)).find((file) => existsSync(file)) ?? null
}
