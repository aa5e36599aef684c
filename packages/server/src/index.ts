export type { Config, Mode } from './config/config.ts'
export { loadConfig } from './config/load-config.ts'
export {
  defineConfig,
  type Plan,
  parseSettings,
  type Settings,
  type SettingsInput,
} from './config/settings.ts'
export { ConfigurationError } from './configuration-error.ts'
export type { DemoClient, DemoState } from './demo/state-file.ts'
export { createService, type Service, type ServiceOptions } from './service.ts'
export type { User } from './users/user.ts'
