import { signingAlgorithms } from '@tollgate/oauth'
import { type Commands, command } from '../command.ts'
import { ALSO_IN_APPLICATIONS, withCore } from '../open.ts'
import * as option from '../options.ts'
import { UsageError } from '../usage-error.ts'

export const keyCommands: Commands = {
  'keys rotate': command({
    summary: 'create a new signing key; tokens signed with the old one stay valid',
    options: {
      immediately: option.flag('sign with it at once, without publishing it first'),
      algorithm: option.choice(
        signingAlgorithms,
        '<name>',
        `algorithm of the key: ${signingAlgorithms.join(', ')}; by default that of access tokens`,
      ),
    },
    run: ({ options: { immediately, algorithm } }, context) =>
      withCore(context, ALSO_IN_APPLICATIONS, async ({ oauth }) => {
        const { kid } = await oauth.keys.rotate({ immediately, ...(algorithm && { algorithm }) })
        const key = (await oauth.keys.list()).find((each) => each.kid === kid)
        const from = key?.activeFrom.toISOString() ?? ''
        return {
          json: { kid, active_from: from },
          text: `The new key ${kid} is published and signs from ${from}`,
        }
      }),
  }),
  'keys revoke': command({
    summary: 'revoke a leaked signing key; every token it signed ends within a second',
    arguments: [
      { name: 'kid', description: 'from the header of a token, or from /.well-known/jwks.json' },
    ],
    run: ({ args: [kid = ''] }, context) =>
      withCore(context, ALSO_IN_APPLICATIONS, async ({ oauth, database }) => {
        const isKnown = await oauth.keys.revoke(kid)
        const keys = await oauth.keys.list()
        if (!isKnown) {
          const known = keys.map((key) => key.kid).join(', ')
          throw new UsageError(`There is no signing key ${kid}; the keys are ${known}`)
        }
        const now = database.clock.now()
        const signing = keys.filter(({ activeFrom }) => activeFrom <= now).at(-1)?.kid ?? null
        return {
          json: { kid, revoked: true, signing },
          text: `Revoked the key ${kid}: the tokens it signed are rejected. ${signing ?? 'None'} signs now`,
        }
      }),
  }),
  'keys reseal': command({
    summary:
      'encrypt the stored keys with TOLLGATE_SECRET, so that the previous secret can be removed',
    async run(_input, context) {
      const { given } = await context.config(['secret'])
      if (given.has('TOLLGATE_NEXT_SECRET')) {
        throw new UsageError(
          'TOLLGATE_NEXT_SECRET is set, so it is too early for this step. First start every process with the new secret as TOLLGATE_SECRET and the old one as TOLLGATE_PREVIOUS_SECRET.',
        )
      }
      return withCore(context, ALSO_IN_APPLICATIONS, async ({ oauth }) => {
        const resealed = await oauth.keys.reseal()
        const done = `Encrypted ${resealed} ${resealed === 1 ? 'entry' : 'entries'} again. `
        const rest = 'Everything stored is encrypted with TOLLGATE_SECRET.'
        return {
          json: { resealed },
          text: resealed === 0 ? rest : `${done}${rest} TOLLGATE_PREVIOUS_SECRET can be removed.`,
        }
      })
    },
  }),
}
