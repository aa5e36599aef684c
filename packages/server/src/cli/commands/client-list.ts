import { clientJson } from '@tollgate/oauth'
import { type Command, textOption } from '../command.ts'
import { withCore } from '../open.ts'

export const clientList: Command = {
  summary: 'show the registered applications',
  options: [{ flags: '--user <id>', description: 'only those of this person' }],
  async run(input, context) {
    const config = await context.config(['secret'])
    return withCore(config, async ({ oauth }) => {
      const userId = textOption(input, 'user')
      const found = userId ? await oauth.clients.listByUser(userId) : await oauth.clients.list()
      const rows = found.map((client) => ({ ...clientJson(client), grants: client.grantTypes }))
      const lines = rows.map(({ id, name, grants, revoked }) => {
        const state = revoked ? 'revoked' : grants.join(' ')
        return `${id.padEnd(38)}${name.padEnd(32)}${state}`
      })
      return { json: rows, text: lines.join('\n') || 'There are no clients' }
    })
  },
}
