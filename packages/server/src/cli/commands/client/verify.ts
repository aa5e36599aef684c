import type { Command } from '../../command.ts'
import { withCore } from '../../open.ts'
import { orNoClient } from './or-no-client.ts'
import { describeOrigin, destinationOf } from './origin.ts'

export const clientVerify: Command = {
  summary: 'vouch for an application that has registered itself, or that a user has registered',
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
        const client = await orNoClient(id, oauth.clients.verify(id))
        const { host } = describeOrigin(client) ?? { host: destinationOf(client) }
        return {
          json: { id: client.id, name: client.name, host, verified: true },
          text: `Verified ${client.name}${host === null ? '' : ` (${host})`}: people are no longer warned of it`,
        }
      },
      { alsoInApplications: true },
    )
  },
}
