import type { Command } from '../../command.ts'
import { withCore } from '../../open.ts'
import { describeOrigin } from './origin.ts'

export const clientVerify: Command = {
  summary: 'vouch for an application that has registered itself: its approvals are remembered',
  arguments: [{ name: 'id', description: 'as `tollgate client list` shows it' }],
  async run({ args: [id = ''] }, context) {
    const config = await context.config(['secret'])
    return withCore(config, async ({ oauth }) => {
      const client = await oauth.clients.verify(id)
      const { host = null } = describeOrigin(client) ?? {}
      return {
        json: { id, name: client.name, host, verified: true },
        text: `Verified ${client.name}${host === null ? '' : ` from ${host}`}: people are no longer warned of it`,
      }
    })
  },
}
