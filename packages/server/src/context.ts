import type { Billing } from '@tollgate/billing'
import type { Gate } from '@tollgate/gate'
import type { AuthorizationServer, Clock } from '@tollgate/oauth'
import type { Logger } from 'pino'
import type { AuditChain } from './admin/audit/chain.ts'
import type { AdminServices } from './admin/execute.ts'
import type { Config } from './config/config.ts'
import type { BothProviders } from './demo/providers.ts'
import type { DemoState } from './demo/state-file.ts'
import type { Factors } from './factors/factors.ts'
import type { Limits } from './limits/limits.ts'
import type { OutageDetector } from './outages.ts'
import type { Recovery } from './recovery/recovery.ts'
import type { Sessions } from './sessions/sessions.ts'
import type { Metrics } from './statistics/metrics.ts'
import type { Statistics } from './statistics/statistics.ts'
import type { ServiceDatabase } from './storage/tables.ts'
import type { Teams } from './teams/teams.ts'
import type { Telemetry } from './telemetry/telemetry.ts'
import type { Upstream } from './upstream/upstream.ts'
import type { User } from './users/user.ts'
import type { UserAccounts } from './users/users.ts'

/**
 * The objects that routes use, such as users, billing and the configuration. Created once, when the
 * service starts.
 */
export interface ServiceContext {
  readonly config: Config
  /** Public base URL. */
  readonly url: string
  readonly database: ServiceDatabase
  readonly users: UserAccounts
  readonly teams: Teams
  readonly sessions: Sessions
  readonly limits: Limits
  /** Mail about accounts, and the links in it. */
  readonly recovery: Recovery
  readonly factors: Factors
  /** The other providers that people can sign in with. */
  readonly upstream: Upstream
  readonly oauth: AuthorizationServer<User>
  readonly billing: Billing
  /** Limits what people can do by plan. `null` if no plan has limits. */
  readonly gate: Gate | null
  /** The services that the operators' operations use. */
  readonly admin: AdminServices
  /** Numbers and chains the entries of the audit log. */
  readonly auditChain: AuditChain
  /** Statistics per day, for the operator's overview. */
  readonly statistics: Statistics
  /** The payment sandbox of a demo. `null` in production. */
  readonly sandbox: BothProviders | null
  /** The user and clients of a demo. `null` in production. */
  readonly demo: DemoState | null
  readonly clock: Clock
  readonly logger: Logger
  readonly metrics: Metrics
  readonly outages: OutageDetector
  /**
   * Checks whether requests can be served. Returns `ok`, or the reason why not, with which `/readyz`
   * responds.
   */
  readonly checkReady: () => Promise<string>
  /** The operator's OpenTelemetry SDK. `null` if none is registered. */
  readonly telemetry: Telemetry | null
  /** Whether the shutdown has begun. Requests are still served during it. */
  readonly isLeaving: () => boolean
}
