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
  /** The scopes of the access token, without those that the client has lost since. */
  readonly scopes: readonly string[]
}

/** A person or script at the command line, who has the secrets of the service and may do anything. */
export interface CommandActor {
  readonly kind: 'command'
  /** The name given with `--as`, by default the name of the operating system's user. */
  readonly id: string
}

/** The operator, client or command that performs an operation. */
export type Actor = OperatorActor | ClientActor | CommandActor

/** The way an operation was called: on a page, through the API, or as a command. */
export type CallChannel = 'page' | 'api' | 'command'

/** A caller of an operation, as the audit log records it. */
export interface Caller {
  readonly actor: Actor
  readonly door: CallChannel
  /** Network address of the caller. `null` at the command line. */
  readonly address: string | null
  /** Id of the HTTP request. `null` if there is none. */
  readonly requestId: string | null
}
