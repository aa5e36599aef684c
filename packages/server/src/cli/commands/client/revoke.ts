import type { Command } from '../../command.ts'
import { withCore } from '../../open.ts'
import { orNoClient } from './or-no-client.ts'

export const clientRevoke: Command = {
  summary: 'end an application with all its tokens, on every process within a second',
  arguments: [
    {
      name: 'id',
      description: 'as `tollgate client list` shows it, or the address of its document',
    },
  ],
  async run({ args: [id = ''] }, context) {
    const config = await context.config(['secret'])
    return withCore(
      config,
      async ({ oauth }) => {
        await orNoClient(id, oauth.clients.revoke(id))
        return { json: { id, revoked: true }, text: `Revoked the client ${id} and all its tokens` }
      },
      { alsoInApplications: true },
    )
  },
}
