import type { ApplicationJson, SessionJson } from '../../admin/operations/access.ts'
import { type Commands, command } from '../command.ts'
import { ALSO_IN_APPLICATIONS } from '../open.ts'
import { withOperations } from '../open-operations.ts'
import * as option from '../options.ts'
import { requireUserId } from '../person.ts'
import { formatTable } from '../table.ts'
import { ACCOUNT_ARGUMENT, withAccount } from './user.ts'

const withConfig = 'Sessions belong to the application: end them with its own code'

/** Commands about the sessions of a person, and about the applications that they approved. */
export const userAccessCommands: Commands = {
  'user sessions': command({
    summary: 'list the open sessions of a person',
    withConfig,
    arguments: [ACCOUNT_ARGUMENT],
    run: ({ args }, context) =>
      withAccount(args, context, async ({ id }, { perform }) => {
        const { data } = await perform<{ data: readonly SessionJson[] }>('users.listSessions', {
          id,
        })
        const rows = data.map((session) => [
          session.id,
          session.started_at,
          session.seen_at,
          session.address ?? '',
          session.browser ?? '',
        ])
        const headers = ['ID', 'STARTED', 'LAST SEEN', 'ADDRESS', 'BROWSER']
        return { json: data, text: formatTable(headers, rows, 'There are no open sessions') }
      }),
  }),
  'user end-session': command({
    summary: 'end one session of a person, on every process within a second',
    withConfig,
    arguments: [ACCOUNT_ARGUMENT],
    options: { session: option.required('<id>', 'the session, from user sessions') },
    run: ({ args, options: { session } }, context) =>
      withAccount(args, context, async ({ id, email }, { perform }) => {
        await perform('users.endSession', { id, session })
        return {
          json: { id, email, ended: session },
          text: `Ended a session of ${email} (${id}).`,
        }
      }),
  }),
  'user applications': command({
    summary: 'list the applications that a person has approved',
    withConfig: true,
    arguments: [ACCOUNT_ARGUMENT],
    run: ({ args: [user = ''] }, context) =>
      withOperations(context, { ...ALSO_IN_APPLICATIONS, onlyReads: true }, async (opened) => {
        const { data } = await opened.perform<{ data: readonly ApplicationJson[] }>(
          'users.listApplications',
          { id: await requireUserId(opened, user) },
        )
        const rows = data.map((each) => [
          each.client_id,
          each.name,
          each.scopes.join(' '),
          each.approved_at.slice(0, 10),
        ])
        const headers = ['CLIENT', 'NAME', 'SCOPES', 'APPROVED']
        return { json: data, text: formatTable(headers, rows, 'No application was approved') }
      }),
  }),
  'user revoke-application': command({
    summary: "end an application's access to an account, with its approval and all its tokens",
    withConfig: true,
    arguments: [ACCOUNT_ARGUMENT],
    options: { client: option.required('<id>', 'the application, from user applications') },
    run: ({ args: [user = ''], options: { client } }, context) =>
      withOperations(context, ALSO_IN_APPLICATIONS, async (opened) => {
        const id = await requireUserId(opened, user)
        await opened.perform('users.revokeApplication', { id, client })
        const text = `The application ${client} has no access to the account ${user} any more.`
        return { json: { id, client_id: client, revoked: true }, text }
      }),
  }),
}
