import { clientJson, isVerified, kyselyStorage } from '@tollgate/oauth'
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
        verified: isVerified(client),
        self_registered: describeOrigin(client),
      }))
      const lines = rows.map((row) => {
        const { id, name, grants, revoked, user_id, verified, self_registered: origin } = row
        const state = revoked ? 'revoked' : grants.join(' ')
        const whose = user_id === null ? '' : `  (of a user, ${wordFor(verified)})`
        return `${id.padEnd(38)}${name.padEnd(32)}${state}${origin ? `  ${phrase(origin)}` : whose}`
      })
      return { json: rows, text: lines.join('\n') || 'There are no clients' }
    })
  },
}

function phrase({ by, host, verified }: Origin): string {
  const how = by === 'document' ? 'described by a document' : 'registered itself'
  const where = host === null ? '' : `, ${host}`
  return `(${how}${where}, ${wordFor(verified)})`
}

function wordFor(verified: boolean): string {
  return verified ? 'verified' : 'unverified'
}
