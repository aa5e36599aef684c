import type { PageMessages } from '../messages/en.ts'
import { ENGLISH, type PageText } from '../messages/messages.ts'
import { type ProblemName, ServiceError } from '../service-error.ts'
import { type TeamRow, teamTable } from '../storage/tables.ts'
import type { TeamRole } from './roles.ts'

/** A team, which can have a subscription of its own. */
export interface Team {
  readonly id: string
  readonly name: string
  /** Address for invoices and mail about payments: that of an owner. */
  readonly email: string
  readonly createdAt: Date
  /** The payment provider where the team is a customer. `null` if there is none. */
  readonly billedBy: string | null
}

/** A team, and the role that a person has in it. */
export interface TeamMembership {
  readonly team: Team
  readonly role: TeamRole
}

/** A member of a team. */
export interface TeamMember {
  readonly userId: string
  readonly email: string
  readonly name: string | null
  readonly role: TeamRole
  /** Whether the account is disabled, so that the person cannot sign in. */
  readonly isDisabled: boolean
  readonly joinedAt: Date
}

/** An invitation that has been neither accepted nor withdrawn. */
export interface TeamInvitation {
  /** Hash of the token in the link, which identifies the invitation. */
  readonly id: string
  /** The address of the only account that can accept it. */
  readonly email: string
  readonly role: TeamRole
  readonly expiresAt: Date
}

/** The path of the page where invitations are accepted. */
export const JOIN_PATH = '/teams/join'

/** Returns the path of the link of an invitation. It contains the secret token. */
export function invitationPath(token: string): string {
  return `${JOIN_PATH}?${new URLSearchParams({ invitation: token })}`
}

const columns = teamTable.pick('id', 'name', 'email', 'created_at')

export function teamFromRow(row: TeamRow): Team {
  const billedBy = row.provider_id ? (row.provider ?? 'a payment provider') : null
  return { ...columns.fromRow(row), billedBy }
}

/** Why a change of a team was refused. */
export type TeamRefusalReason =
  Extract<keyof PageMessages, `teams.problem.${string}`> extends `teams.problem.${infer Reason}`
    ? Reason
    : never

/** Thrown if a change of a team was refused. Nothing was changed. */
export class TeamRefused extends ServiceError {
  readonly reason: TeamRefusalReason

  constructor(reason: TeamRefusalReason) {
    super(ENGLISH(`teams.problem.${reason}`))
    this.reason = reason
  }

  override get problem(): ProblemName {
    return this.reason === 'notMember' ? 'not-found' : 'conflict'
  }

  /** Returns the message in the language of the page. */
  in(t: PageText): string {
    return t(`teams.problem.${this.reason}`)
  }
}
