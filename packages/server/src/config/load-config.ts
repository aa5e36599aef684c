import type { Config, Need } from './config.ts'
import { loadSettings } from './config-file.ts'
import { readEnvironment } from './environment.ts'

/** The environment and `tollgate.config.ts`, read once; or a ConfigurationError that says what to do. */
export async function loadConfig(
  environment: Readonly<Record<string, string | undefined>>,
  needs: readonly Need[] = ['secret', 'url', 'providers'],
): Promise<Config> {
  const settings = await loadSettings(process.cwd(), environment.TOLLGATE_CONFIG || null)
  return readEnvironment(environment, { settings, needs })
}
