import { type Command, UsageError } from '../../command.ts'
import { withCore } from '../../open.ts'

export const keysRevoke: Command = {
  summary: 'take a signing key back that leaked; every token it has signed ends within a second',
  arguments: [
    { name: 'kid', description: 'as the header of a token, or /.well-known/jwks.json, has it' },
  ],
  async run({ args: [kid = ''] }, context) {
    const config = await context.config(['secret'])
    return withCore(
      config,
      async ({ oauth }, { clock }) => {
        const isKnown = await oauth.keys.revoke(kid)
        const keys = await oauth.keys.list()
        if (!isKnown) {
          const known = keys.map((key) => key.kid).join(', ')
          throw new UsageError(`There is no signing key ${kid}; there is ${known}`)
        }
        const signing = keys.filter(({ activeFrom }) => activeFrom <= clock.now()).at(-1)
        return {
          json: { kid, revoked: true, signing: signing?.kid ?? null },
          text: `Took the key ${kid} back: the tokens it signed are refused. ${signing?.kid ?? 'None'} signs now`,
        }
      },
      { alsoInApplications: true },
    )
  },
}
