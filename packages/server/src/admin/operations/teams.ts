import { z } from 'zod'
import { deleteTeam, teamOwner } from '../../teams/end-team.ts'
import { TEAM_ROLES } from '../../teams/roles.ts'
import { type Team, type TeamMember, TeamRefused } from '../../teams/team.ts'
import { updateTeamSeats } from '../../teams/team-seats.ts'
import type { AuditDescription } from '../audit/described.ts'
import { type Operation, type OperationContext, operation } from '../operation.ts'
import { notFound } from '../problems.ts'
import { instant, nameSchema, pagedFields, pageShape, userId } from './fields.ts'
import { describeOwner } from './owners.ts'

export const teamId = z.string().min(1).max(64).describe('Id of the team')

const teamShape = z.strictObject({
  id: teamId,
  name: z.string(),
  email: z.string().describe('Address for mail about payments: that of an owner'),
  created_at: instant,
  provider: z
    .string()
    .nullable()
    .describe('The payment provider where the team is a customer. `null` if there is none'),
})
nameSchema('Team', teamShape)

const teamRole = z.enum(TEAM_ROLES)

const memberShape = z.strictObject({
  user_id: userId,
  email: z.string(),
  name: z.string().nullable(),
  role: teamRole,
  disabled: z.boolean().describe('Whether the account is disabled'),
  joined_at: instant,
})
nameSchema('TeamMember', memberShape)

const teamWithMembersShape = z.strictObject({ ...teamShape.shape, members: z.array(memberShape) })

export type TeamJson = z.output<typeof teamShape>
export type TeamWithMembersJson = z.output<typeof teamWithMembersShape>

function teamJson({ id, name, email, createdAt, billedBy }: Team): TeamJson {
  return { id, name, email, created_at: createdAt.toISOString(), provider: billedBy }
}

function memberJson({ userId, email, name, role, isDisabled, joinedAt }: TeamMember) {
  const joined_at = joinedAt.toISOString()
  return { user_id: userId, email, name, role, disabled: isDisabled, joined_at }
}

async function requireTeam(id: string, { teams }: OperationContext): Promise<Team> {
  const team = await teams.find(id)
  if (!team) throw notFound('team', id)
  return team
}

async function showTeam(id: string, context: OperationContext): Promise<TeamWithMembersJson> {
  const team = await requireTeam(id, context)
  return { ...teamJson(team), members: (await context.teams.members(id)).map(memberJson) }
}

function describeTeam({ id, ...details }: { readonly id: string }): AuditDescription {
  return { subject: describeOwner(teamOwner({ id })), details }
}

/** Operations on teams. The members' own acts are on the pages of the team. */
export const teamOperations: readonly Operation[] = [
  operation({
    name: 'teams.list',
    summary: 'List teams, the newest first',
    description:
      'With `search`, a page can contain fewer teams than `limit`, or none, even if more follow: continue until `next` is null.',
    route: ['GET', '/teams'],
    role: 'viewer',
    effect: 'read',
    input: z.strictObject({
      ...pagedFields,
      user_id: userId.optional().describe('Only teams that this person is a member of'),
      search: z.string().min(1).max(191).optional().describe('Part of the name, or an id'),
    }),
    output: pageShape(teamShape),
    async run({ user_id: userId, search, after, limit }, { teams, cursors }) {
      const list = `teams ${JSON.stringify([userId, search])}`
      const before = after === undefined ? null : String(cursors.decode(list, after))
      const { teams: found, next } = await teams.page({ userId, search, before, limit })
      return {
        data: found.map(teamJson),
        next: next === null ? null : cursors.encode(list, next),
      }
    },
  }),
  operation({
    name: 'teams.get',
    summary: 'Show a team with its members',
    route: ['GET', '/teams/{id}'],
    role: 'viewer',
    effect: 'read',
    input: z.strictObject({ id: teamId }),
    output: teamWithMembersShape,
    run: ({ id }, context) => showTeam(id, context),
  }),
  operation({
    name: 'teams.setRole',
    summary: 'Change the role of a member of a team',
    description:
      'For example, makes another member an owner after the only owner has gone. A team keeps at least one owner who can sign in.',
    route: ['PUT', '/teams/{id}/members/{user}/role'],
    role: 'admin',
    effect: 'change',
    input: z.strictObject({ id: teamId, user: userId, role: teamRole }),
    output: teamWithMembersShape,
    describe: describeTeam,
    async run({ id, user, role }, context) {
      await requireTeam(id, context)
      await context.teams.setRole(id, user, role, 'operator')
      return showTeam(id, context)
    },
  }),
  operation({
    name: 'teams.removeMember',
    summary: 'Remove a member from a team',
    description:
      'Sets the number of seats to the number of members, if the plan of the team counts seats.',
    route: ['DELETE', '/teams/{id}/members/{user}'],
    role: 'support',
    effect: 'change',
    commits: 'in-steps',
    input: z.strictObject({ id: teamId, user: userId }),
    output: teamWithMembersShape,
    describe: describeTeam,
    async run({ id, user }, context) {
      const { billedBy } = await requireTeam(id, context)
      try {
        await context.teams.remove(id, user, 'operator')
      } catch (error) {
        // A repeat after the provider did not answer.
        if (!(error instanceof TeamRefused) || error.reason !== 'notMember') throw error
      }
      if (billedBy !== null) {
        const billing = await context.billing.provider()
        const { plans } = context.config.settings
        await updateTeamSeats({ teams: context.teams, billing, plans }, id)
      }
      return showTeam(id, context)
    },
  }),
  operation({
    name: 'teams.delete',
    summary: 'Delete a team permanently',
    description:
      'Its members keep their accounts. Fails with `conflict` while a subscription renews or an amount is open, unless the input says what happens to them. Invoices stay at the provider.',
    route: ['POST', '/teams/{id}/delete'],
    role: 'admin',
    effect: 'irreversible',
    commits: 'in-steps',
    input: z.strictObject({
      id: teamId,
      subscription: z
        .literal('now')
        .nullish()
        .transform((choice) => choice ?? null)
        .describe('Ends a subscription that renews'),
      void_open: z.boolean().default(false).describe('Void unbilled usage and unpaid invoices'),
    }),
    output: z.strictObject({ id: teamId, state: z.literal('deleted') }),
    describe: describeTeam,
    async run({ id, subscription, void_open: voidOpen }, context) {
      const team = await requireTeam(id, context)
      const endSubscription = subscription === 'now'
      await deleteTeam(context.teams, context.billing, team, { endSubscription, voidOpen })
      return { id, state: 'deleted' as const }
    },
  }),
]
