import { clientJson, kyselyStorage } from '@tollgate/oauth'
import { type Command, textOption } from '../../command.ts'
import { withTables } from '../../open.ts'
import { describeOrigin, type Origin } from './origin.ts'

export const clientList: Command = {
  summary: 'show the registered applications',
  options: [{ flags: '--user <id>', description: 'only those of this person' }],
  async run(input, context) {
    const config = await context.config([])
    return withTables(config, ['oauth'], async (database) => {
      const { clients } = kyselyStorage(database)
      const userId = textOption(input, 'user')
      const found = userId ? await clients.listByUser(userId) : await clients.list()
      const rows = found.map((client) => ({
        ...clientJson(client),
        grants: client.grantTypes,
        self_registered: describeOrigin(client),
      }))
      const lines = rows.map(({ id, name, grants, revoked, self_registered: origin }) => {
        const state = revoked ? 'revoked' : grants.join(' ')
        return `${id.padEnd(38)}${name.padEnd(32)}${state}${origin ? `  ${phrase(origin)}` : ''}`
      })
      return { json: rows, text: lines.join('\n') || 'There are no clients' }
    })
  },
}

function phrase({ by, host, verified }: Origin): string {
  const how = by === 'document' ? 'described by a document' : 'registered itself'
  const where = host === null ? '' : `, ${host}`
  return `(${how}${where}, ${verified ? 'verified' : 'unverified'})`
}
