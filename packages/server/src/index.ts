export { type Config, ConfigurationError, type Mode } from './config/environment.ts'
export { loadConfig } from './config/load-config.ts'
export {
  defineConfig,
  type Plan,
  parseSettings,
  type Settings,
  type SettingsInput,
} from './config/settings.ts'
export type { DemoClient, DemoFacts } from './demo/state-file.ts'
export { createService, type Service, type ServiceOptions } from './service.ts'
export type { User } from './users/user.ts'
