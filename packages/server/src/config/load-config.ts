import { existsSync } from 'node:fs'
import { basename, resolve } from 'node:path'
import type { Config, Need } from './config.ts'
import { readEnvironment } from './environment.ts'
import { readSettings } from './settings.ts'

const NAMES = ['tollgate.config.ts', 'tollgate.config.mjs', 'tollgate.config.js']

/**
 * Reads the environment and `tollgate.config.ts`.
 * @throws ConfigurationError that names every mistake and how to fix it.
 * @example
 * const service = await createService(await loadConfig(process.env))
 */
export async function loadConfig(
  environment: Readonly<Record<string, string | undefined>>,
  needs: readonly Need[] = ['secret', 'url', 'providers'],
): Promise<Config> {
  const found = await loadSettings(process.cwd(), environment.TOLLGATE_CONFIG || null)
  return readEnvironment(environment, { ...found, needs })
}

/**
 * Reads the settings from `tollgate.config.ts` in the folder, or from the file `fileName`. Returns
 * the defaults if there is no file.
 */
export async function loadSettings(
  folder: string,
  fileName: string | null,
): Promise<ReturnType<typeof readSettings>> {
  const file = fileName === null ? findFile(folder) : resolve(folder, fileName)
  if (file === null) return readSettings({})
  if (!existsSync(file)) {
    const problem = `TOLLGATE_CONFIG names ${file}, which does not exist`
    return { ...readSettings({}), problems: [problem] }
  }
  // Loading jiti slows down the start, so it is imported only if there is a configuration file.
  const { createJiti } = await import('jiti')
  try {
    const loaded = await createJiti(import.meta.url).import<unknown>(file, { default: true })
    const { settings, problems } = readSettings(loaded)
    return { settings, problems: problems.map((problem) => `${basename(file)}: ${problem}`) }
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    return { ...readSettings({}), problems: [`${basename(file)} cannot be loaded: ${reason}`] }
  }
}

function findFile(folder: string): string | null {
  return NAMES.map((name) => resolve(folder, name)).find((file) => existsSync(file)) ?? null
}
