import type { Billing } from '@tollgate/billing'
import type { Gate } from '@tollgate/gate'
import type { AuthorizationServer, Clock } from '@tollgate/oauth'
import type { z } from 'zod'
import type { Config } from '../config/config.ts'
import type { Factors } from '../factors/factors.ts'
import type { Limits } from '../limits/limits.ts'
import type { Recovery } from '../recovery/recovery.ts'
import type { Sessions } from '../sessions/sessions.ts'
import type { ServiceDatabase } from '../storage/tables.ts'
import type { Teams } from '../teams/teams.ts'
import type { BillingAccess } from '../users/end-account.ts'
import type { Role } from '../users/roles.ts'
import type { User } from '../users/user.ts'
import type { UserAccounts } from '../users/users.ts'
import type { Actor } from './audit/caller.ts'
import type { AuditDescription } from './audit/described.ts'
import type { AuditLog } from './audit/log.ts'
import type { CursorCodec } from './cursor.ts'

/** The areas of the management API. Each has a scope for reading and one for changes. */
export const OPERATION_AREAS = {
  users: 'user accounts, and their sessions, applications and tokens',
  clients: 'applications that use the authorization server',
  teams: 'teams and their members',
  billing: 'subscriptions, invoices and payments',
  webhooks: 'events from the payment providers, and webhooks sent to your own endpoints',
  mail: 'the queues of mail to customers and of mail about accounts',
  keys: 'signing keys',
  settings: 'effective settings, and the statistics of the overview',
  audit: 'the audit log',
} as const

export type OperationArea = keyof typeof OPERATION_AREAS

/** The parts of the service that operations use. Both the server and the commands provide them. */
export interface OperationServices {
  readonly config: Config
  readonly database: ServiceDatabase
  readonly clock: Clock
  readonly users: UserAccounts
  readonly teams: Teams
  readonly sessions: Sessions
  readonly limits: Limits
  readonly recovery: Recovery
  readonly factors: Factors
  readonly oauth: AuthorizationServer<User>
  readonly billing: BillingAccess
  /** Counts use by plan. `null` if no plan has limits. */
  readonly gate: Pick<Gate, 'planOf' | 'usage'> | null
  readonly audit: AuditLog
  readonly cursors: CursorCodec
}

/** The second argument of `run()`: the parts of the service, and data about the call. */
export interface OperationContext extends OperationServices {
  readonly actor: Actor
  /** `If-Match` of the request, or the version that a form was filled in for. `null` without one. */
  readonly ifMatch: string | null
  /**
   * Idempotency key to pass to the libraries. It is the same for every repeat of a request. `null`
   * if the request has no idempotency key.
   */
  readonly repeatKey: string | null
}

export type OperationMethod = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** An act of an operator: called by the API, the pages and the commands alike. */
export interface Operation<Input = unknown, Output = unknown> {
  /** Area and verb, such as `users.disable`. */
  readonly name: `${OperationArea}.${string}`
  /** One imperative sentence without a full stop, for the API document and the help. */
  readonly summary: string
  /** Further sentences for the API document. */
  readonly description?: string
  /**
   * HTTP method and path below `/admin/v1`, such as `['POST', '/users/{id}/disable']`. A path that
   * begins with `/users/{owner}` also exists below `/teams/{owner}`: see `listPaths()`.
   */
  readonly route: readonly [OperationMethod, string]
  /** The lowest role that allows an operator to call it. */
  readonly role: Role
  /**
   * Whether the operation only reads, changes something, or does something that cannot be undone.
   */
  readonly effect: 'read' | 'change' | 'irreversible'
  /**
   * How the operation takes effect. `together`: the changes and the audit entry are one
   * transaction. `in-steps`: the intent is recorded before the changes and the outcome after them,
   * because some changes happen outside the database, at a provider or in the memory of other
   * processes.
   * @default 'together'
   */
  readonly commits?: 'together' | 'in-steps'
  /**
   * Whether the operation grants power over the service. If so, it needs a recent sign-in, and no
   * client can call it.
   * @default false
   */
  readonly grantsPower?: boolean
  /**
   * Whether a call needs an idempotency key, because the operation moves money. `run()` must pass
   * `repeatKey` on, so that a repeat has no second effect. This also makes an interrupted request
   * repeatable.
   * @default false
   */
  readonly needsKey?: boolean
  /**
   * Whether a call needs If-Match with the ETag of the object, because two operators may change the
   * object concurrently. `run()` checks the header.
   * @default false
   */
  readonly needsIfMatch?: boolean
  readonly input: z.ZodType<Input>
  readonly output: z.ZodType<Output>
  /**
   * Schema of one line, if `run()` returns `Lines`. The response then has the type
   * `application/jsonl`.
   */
  readonly line?: z.ZodType
  /** Status of the response. @default 200, or 204 if there is no output */
  readonly status?: 200 | 201 | 202 | 204
  /** Describes the audit entry. `result` is `null` before the effect and after a failure. */
  describe?(input: Input, result: Output | null): AuditDescription
  /**
   * Returns the result to store for repeats with the same idempotency key, without secrets, which
   * are shown once and never stored.
   * @default returns the result unchanged
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

/** The beginning of the path of an operation on an owner in billing. */
const OWNER_PATH = '/users/{owner}'

/** One of the paths of an operation below `/admin/v1`. */
export interface OperationPath {
  readonly path: string
  /** The type of the owner that `{owner}` in the path names. `null` if it names none. */
  readonly ownerType: 'user' | 'team' | null
}

/**
 * Lists the paths of an operation. An operation on an owner in billing has one path for people, and
 * the same path below `/teams` for teams.
 */
export function listPaths({ route: [, path] }: Pick<Operation, 'route'>): OperationPath[] {
  if (!path.startsWith(OWNER_PATH)) return [{ path, ownerType: null }]
  return [
    { path, ownerType: 'user' },
    { path: path.replace(OWNER_PATH, '/teams/{owner}'), ownerType: 'team' },
  ]
}

/**
 * Returns the area of an operation, the part of its name before the dot: `users` for
 * `users.disable`.
 */
export function getOperationArea({ name }: Pick<Operation, 'name'>): OperationArea {
  return name.slice(0, name.indexOf('.')) as OperationArea
}

/**
 * Returns the scope that a client needs for an operation. For acts that cannot be undone, the
 * client also needs `admin:irreversible`.
 */
export function getOperationScope(operation: Pick<Operation, 'name' | 'effect'>): string {
  return `admin.${getOperationArea(operation)}:${operation.effect === 'read' ? 'read' : 'write'}`
}

/** The scope that a client needs for acts that cannot be undone. */
export const IRREVERSIBLE_SCOPE = 'admin:irreversible'

/** The scope that an API needs to count the use of people: see `/gate/v1`. */
export const GATE_SCOPE = 'gate:use'

/**
 * Returns the scopes of the management API with their descriptions. Only an owner can give them to
 * a client.
 */
export function adminScopes(): Record<string, string> {
  const scopes = Object.entries(OPERATION_AREAS).flatMap(([area, holds]) => [
    [`admin.${area}:read`, `Read ${holds}`],
    ...(area === 'settings' || area === 'audit'
      ? []
      : [[`admin.${area}:write`, `Change ${holds}`]]),
  ])
  return {
    ...Object.fromEntries(scopes),
    [IRREVERSIBLE_SCOPE]: 'Perform irreversible operations',
    [GATE_SCOPE]: 'Count use of the quotas of plans',
  }
}

/** Opens billing in a mode that sends no request to a provider. */
export function readBilling({ billing }: OperationServices): Promise<Billing> {
  return billing.rows()
}
