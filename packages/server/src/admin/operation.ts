import type { Billing } from '@tollgate/billing'
import type { Database } from '@tollgate/database'
import type { AuthorizationServer, Clock } from '@tollgate/oauth'
import type { z } from 'zod'
import type { Config } from '../config/config.ts'
import type { Limits } from '../limits/limits.ts'
import type { Sessions } from '../sessions/sessions.ts'
import type { BillingAccess } from '../users/end-account.ts'
import type { Role } from '../users/roles.ts'
import type { User } from '../users/user.ts'
import type { UserAccounts } from '../users/users.ts'
import type { Actor } from './audit/caller.ts'
import type { Described } from './audit/described.ts'
import type { AuditLog } from './audit/log.ts'
import type { CursorCodec } from './cursor.ts'

/** The areas of the management API. Each has a scope for reading and one for changes. */
export const AREAS = {
  users: 'accounts, sessions, applications and tokens of people',
  clients: 'applications that use the authorization server',
  billing: 'subscriptions, invoices and payments',
  webhooks: 'events from the payment providers, and deliveries of our own',
  keys: 'signing keys',
  settings: 'settings in force, and the numbers of the overview',
  audit: 'the audit log',
} as const

export type Area = keyof typeof AREAS

/** The parts of the service that operations work with. A command provides them as well as a server. */
export interface OperationServices {
  readonly config: Config
  readonly database: Database
  readonly clock: Clock
  readonly users: UserAccounts
  readonly sessions: Sessions
  readonly limits: Limits
  readonly oauth: AuthorizationServer<User>
  readonly billing: BillingAccess
  readonly audit: AuditLog
  readonly cursors: CursorCodec
}

/** The second argument of `run()`: the parts of the service, and facts about the call. */
export interface OperationContext extends OperationServices {
  readonly actor: Actor
  /** `If-Match` of the request, or the version that a form was filled in for. `null` without one. */
  readonly ifMatch: string | null
  /**
   * Key for the libraries, the same for every repeat of a request. `null` if the request has no
   * idempotency key.
   */
  readonly repeatKey: string | null
}

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** An act of an operator: called by the API, the pages and the commands alike. */
export interface Operation<Input = unknown, Output = unknown> {
  /** Area and verb, such as `users.disable`. */
  readonly name: `${Area}.${string}`
  /** One imperative sentence without a full stop, for the API document and the help. */
  readonly summary: string
  /** Further sentences for the API document. */
  readonly description?: string
  /** HTTP method and path below `/admin/v1`, such as `['POST', '/users/{id}/disable']`. */
  readonly route: readonly [Method, string]
  /** The least role that an operator needs. */
  readonly role: Role
  /** Whether it reads, changes, or does what cannot be undone. */
  readonly effect: 'read' | 'change' | 'irreversible'
  /**
   * `together`: the changes are one transaction with the audit entry. `in-steps`: the intent is
   * recorded before and the outcome after, because a provider or the memory of processes takes part.
   * @default 'together'
   */
  readonly commits?: 'together' | 'in-steps'
  /**
   * Whether it grants power over the service. Then it needs a recent sign-in, and no client can
   * call it.
   * @default false
   */
  readonly grantsPower?: boolean
  /**
   * Whether a call needs an idempotency key, because it moves money. Its repeats must be harmless:
   * `run()` passes `repeatKey` on. So a request that was interrupted can be repeated, too.
   * @default false
   */
  readonly needsKey?: boolean
  /**
   * Whether a call needs If-Match with the ETag of the object, because two operators may change it at
   * once. `run()` checks it.
   * @default false
   */
  readonly needsIfMatch?: boolean
  readonly input: z.ZodType<Input>
  readonly output: z.ZodType<Output>
  /** Schema of one line, if `run()` returns `Lines`. They are answered as `application/jsonl`. */
  readonly line?: z.ZodType
  /** Status of the response. @default 200, or 204 if there is no output */
  readonly status?: 200 | 201 | 202 | 204
  /** Describes the audit entry. `result` is `null` before the effect and after a failure. */
  describe?(input: Input, result: Output | null): Described
  /**
   * The result that is stored for repeats with the same idempotency key: without a secret, which is
   * shown once and never stored.
   * @default the result
   */
  forRepeats?(result: Output): Output
  run(input: Input, context: OperationContext): Promise<Output>
}

/** Declares an operation; infers the types of its input and output from their schemas. */
export function operation<Input extends z.ZodType, Output extends z.ZodType>(
  declared: Omit<Operation<z.output<Input>, z.output<Output>>, 'input' | 'output'> & {
    readonly input: Input
    readonly output: Output
  },
): Operation {
  return declared as unknown as Operation
}

/** The area of an operation. */
export function areaOf({ name }: Pick<Operation, 'name'>): Area {
  return name.slice(0, name.indexOf('.')) as Area
}

/** The scope that a client needs besides `admin:irreversible`. */
export function scopeOf(operation: Pick<Operation, 'name' | 'effect'>): string {
  return `admin.${areaOf(operation)}:${operation.effect === 'read' ? 'read' : 'write'}`
}

/** The scope that a client needs for acts that cannot be undone. */
export const IRREVERSIBLE = 'admin:irreversible'

/** The scopes of the management API with their descriptions. Only clients of owners can have them. */
export function adminScopes(): Record<string, string> {
  const scopes = Object.entries(AREAS).flatMap(([area, holds]) => [
    [`admin.${area}:read`, `Read ${holds}`],
    ...(area === 'settings' || area === 'audit'
      ? []
      : [[`admin.${area}:write`, `Change ${holds}`]]),
  ])
  return { ...Object.fromEntries(scopes), [IRREVERSIBLE]: 'Do what cannot be undone' }
}

/** Access to billing that sends no request to a provider. */
export function readBilling({ billing }: OperationServices): Promise<Billing> {
  return billing.rows()
}
