import type { Role } from '../../users/roles.ts'

/** An operator who is signed in to this service. */
export interface OperatorActor {
  readonly kind: 'operator'
  /** User id of the operator. */
  readonly id: string
  readonly email: string
  readonly role: Role
  /** When the operator last proved who they are. */
  readonly signedInAt: Date
}

/** A client with an access token of its own (client credentials). */
export interface ClientActor {
  readonly kind: 'client'
  /** The `client_id`. */
  readonly id: string
  /** The scopes of the token that the client still may have. */
  readonly scopes: readonly string[]
}

/** A person or script at the command line, who has the secrets of the service and may do anything. */
export interface CommandActor {
  readonly kind: 'command'
  /** The name given with `--as`, by default the name of the system's user. */
  readonly id: string
}

/** The operator, client or command that performs an operation. */
export type Actor = OperatorActor | ClientActor | CommandActor

/** The door through which an operation was called. */
export type Door = 'page' | 'api' | 'command'

/** A caller of an operation, as the audit log records it. */
export interface Caller {
  readonly actor: Actor
  readonly door: Door
  /** Network address of the caller. `null` at the command line. */
  readonly address: string | null
  /** Id of the HTTP request. `null` at the command line. */
  readonly requestId: string | null
}
