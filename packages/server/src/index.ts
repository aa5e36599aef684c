export { readByAll } from '@tollgate/oauth'
export type { Config, Need, SelfRegistered, SmtpSettings } from './config/config.ts'
export { loadConfig } from './config/load-config.ts'
export type { LogLevels } from './config/log-level.ts'
export type { AdditionalPrice, PriceTerms, SeatsRule } from './config/plans.ts'
export type {
  Checked,
  CheckName,
  ForLibrary,
  Mode,
  Remark,
  SettingRow,
  VariableRow,
} from './config/row.ts'
export {
  type DeliverySettings,
  defineConfig,
  type OutgoingSettings,
  type Plan,
  type PlanInput,
  parseSettings,
  type SelfRegisteredSettings,
  type Settings,
  type SettingsInput,
} from './config/settings.ts'
export type {
  CaptchaCheck,
  CaptchaSettings,
  MailSettings,
  PageReplacement,
  ServiceMail,
  ServicePage,
} from './config/shapes.ts'
export type { LogArea, LogLevel, MailAddress, SmtpAddress } from './config/values.ts'
export { ConfigurationError } from './configuration-error.ts'
export type {
  DemoClient,
  DemoClientName,
  DemoState,
  RunningSandbox,
} from './demo/state-file.ts'
export type { Timeouts } from './http/node-server.ts'
export { createService, type Service, type ServiceOptions } from './service.ts'
export type { ConfiguredProvider, UpstreamKindName } from './upstream/providers/kinds.ts'
export type { PasswordCost, PasswordOptions } from './users/passwords.ts'
export type { Role } from './users/roles.ts'
export type { User } from './users/user.ts'
