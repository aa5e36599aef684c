import { clientJson, kyselyStorage } from '@tollgate/oauth'
import { type Command, textOption } from '../../command.ts'
import { withTables } from '../../open.ts'

export const clientList: Command = {
  summary: 'show the registered applications',
  options: [{ flags: '--user <id>', description: 'only those of this person' }],
  async run(input, context) {
    const config = await context.config([])
    return withTables(config, ['oauth'], async (database) => {
      const { clients } = kyselyStorage(database)
      const userId = textOption(input, 'user')
      const found = userId ? await clients.listByUser(userId) : await clients.list()
      const rows = found.map((client) => ({ ...clientJson(client), grants: client.grantTypes }))
      const lines = rows.map(({ id, name, grants, revoked }) => {
        const state = revoked ? 'revoked' : grants.join(' ')
        return `${id.padEnd(38)}${name.padEnd(32)}${state}`
      })
      return { json: rows, text: lines.join('\n') || 'There are no clients' }
    })
  },
}
