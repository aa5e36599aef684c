import { type SigningAlgorithm, signingAlgorithms } from '@tollgate/oauth'
import { type Command, textOption, UsageError } from '../../command.ts'
import { withCore } from '../../open.ts'

export const keysRotate: Command = {
  summary: 'make a new signing key; tokens signed with the old one stay valid',
  options: [
    {
      flags: '--immediately',
      description: 'sign with it at once, not after it has been published for a while',
    },
    {
      flags: '--algorithm <name>',
      description: `which key: ${signingAlgorithms.join(', ')}; that of access tokens by default`,
    },
  ],
  async run(input, context) {
    const algorithm = readAlgorithm(textOption(input, 'algorithm'))
    const immediately = input.options.immediately === true
    const config = await context.config(['secret'])
    return withCore(
      config,
      async ({ oauth }) => {
        const { kid } = await oauth.keys.rotate({ immediately, ...(algorithm && { algorithm }) })
        const key = (await oauth.keys.list()).find((each) => each.kid === kid)
        const from = key?.activeFrom.toISOString() ?? ''
        return {
          json: { kid, active_from: from },
          text: `The new key ${kid} is published and signs from ${from}`,
        }
      },
      { alsoInApplications: true },
    )
  },
}

function readAlgorithm(name: string | null): SigningAlgorithm | null {
  if (name === null) return null
  const algorithm = signingAlgorithms.find((each) => each === name)
  if (algorithm) return algorithm
  throw new UsageError(`--algorithm ${name}: there are ${signingAlgorithms.join(', ')}`)
}
