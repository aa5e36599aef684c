import type { SubscriptionJson } from '../../admin/operations/subscriptions.ts'
import type { TeamJson, TeamWithMembersJson } from '../../admin/operations/teams.ts'
import { TEAM_ROLES } from '../../teams/roles.ts'
import { type Commands, command } from '../command.ts'
import { withOperations } from '../open-operations.ts'
import * as option from '../options.ts'
import { requireUserId } from '../person.ts'
import { formatTable } from '../table.ts'

const PAGE = 100
const TEAM = { name: 'team', description: 'the id of the team' }
const MEMBER = { name: 'user', description: 'the id or the e-mail address of the member' }
const NAMES = TEAM_ROLES.join(', ')

/** Commands about teams. */
export const teamCommands: Commands = {
  'team list': command({
    summary: 'list the teams, newest first',
    options: {
      user: option.text('<id>', 'only those of this user'),
      search: option.text('<text>', 'only those with this text in their name, or with this id'),
      after: option.text('<cursor>', 'continue after the previous page'),
    },
    run: ({ options: { user, search, after } }, context) =>
      withOperations(context, { onlyReads: true }, async (opened) => {
        const { data, next } = await opened.perform<{
          data: readonly TeamJson[]
          next: string | null
        }>('teams.list', {
          limit: PAGE,
          ...(user !== null && { user_id: await requireUserId(opened, user) }),
          ...(search !== null && { search }),
          ...(after !== null && { after }),
        })
        if (next !== null) context.hint(`There are more teams: add --after ${next}`)
        const rows = data.map(({ id, name, email, provider, created_at }) => [
          id,
          name,
          email,
          provider ?? '',
          created_at.slice(0, 10),
        ])
        const headers = ['ID', 'NAME', 'EMAIL', 'PROVIDER', 'CREATED']
        return { json: data, text: formatTable(headers, rows, 'There are no teams') }
      }),
  }),
  'team show': command({
    summary: 'show a team with its members and subscriptions',
    arguments: [TEAM],
    run: ({ args: [id = ''] }, context) =>
      withOperations(context, { onlyReads: true }, async ({ perform }) => {
        const team = await perform<TeamWithMembersJson>('teams.get', { id })
        const { data: subscriptions } = await perform<{ data: readonly SubscriptionJson[] }>(
          'billing.listSubscriptionsOf',
          { owner: `team:${id}` },
        )
        const members = team.members.map((each) => [
          each.user_id,
          each.email,
          each.role,
          each.disabled ? 'disabled' : '',
        ])
        const rows = subscriptions.map((each) => [
          String(each.id),
          each.plan,
          String(each.quantity),
          each.provider,
          each.states.join(' '),
        ])
        const text = [
          `${team.name} (${team.id})`,
          formatTable(['USER', 'EMAIL', 'ROLE', 'STATE'], members, 'The team has no members'),
          formatTable(
            ['ID', 'PLAN', 'QUANTITY', 'PROVIDER', 'STATES'],
            rows,
            'The team has no subscriptions',
          ),
        ]
        return {
          json: { ...team, subscriptions },
          text: (width) =>
            text.map((part) => (typeof part === 'string' ? part : part(width))).join('\n\n'),
        }
      }),
  }),
  'team role': command({
    summary: 'change the role of a member, for example to make another member the owner',
    arguments: [TEAM, MEMBER, { name: 'role', description: NAMES, choices: TEAM_ROLES }],
    run: ({ args: [id = '', named = '', role = ''] }, context) =>
      withOperations(context, {}, async (opened) => {
        const user = await requireUserId(opened, named)
        const team = await opened.perform<TeamWithMembersJson>('teams.setRole', { id, user, role })
        return { json: team, text: `The user ${user} now has the role ${role} in ${team.name}.` }
      }),
  }),
  'team remove': command({
    summary: 'remove a member from a team',
    arguments: [TEAM, MEMBER],
    run: ({ args: [id = '', named = ''] }, context) =>
      withOperations(context, {}, async (opened) => {
        const user = await requireUserId(opened, named)
        const team = await opened.perform<TeamWithMembersJson>('teams.removeMember', { id, user })
        return { json: team, text: `Removed the user ${user} from ${team.name}.` }
      }),
  }),
  'team delete': command({
    summary: 'delete a team permanently; its members keep their accounts',
    arguments: [TEAM],
    options: {
      subscription: option.choice(['now'], '<choice>', 'now: ends a subscription that renews'),
      voidOpen: option.flag('void unbilled usage and unpaid invoices'),
    },
    run: ({ args: [id = ''], options: { subscription, voidOpen } }, context) =>
      withOperations(context, {}, async ({ perform }) => {
        const input = { id, subscription, void_open: voidOpen }
        const json = await perform('teams.delete', input)
        return { json, text: `Deleted the team ${id}. Invoices stay at the provider.` }
      }),
  }),
}
