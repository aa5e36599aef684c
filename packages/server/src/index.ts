export { readByAll } from '@tollgate/oauth'
export type { Config, Mode, Need, SelfRegistered } from './config/config.ts'
export type { DeliverySettings } from './config/deliveries.ts'
export { loadConfig } from './config/load-config.ts'
export {
  defineConfig,
  type Plan,
  type PlanInput,
  parseSettings,
  type Settings,
  type SettingsInput,
} from './config/settings.ts'
export type {
  OutgoingSettings,
  SelfRegisteredSettings,
  StandardSettings,
  StandardSettingsInput,
} from './config/standards.ts'
export { ConfigurationError } from './configuration-error.ts'
export type {
  DemoClient,
  DemoClientName,
  DemoState,
  RunningSandbox,
} from './demo/state-file.ts'
export type { Timeouts } from './http/node-server.ts'
export { createService, type Service, type ServiceOptions } from './service.ts'
export type { PasswordCost, PasswordOptions } from './users/passwords.ts'
export type { User } from './users/user.ts'
