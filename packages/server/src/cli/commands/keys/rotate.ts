import type { Command } from '../../command.ts'
import { withCore } from '../../open.ts'

export const keysRotate: Command = {
  summary: 'make a new signing key; tokens signed with the old one stay valid',
  options: [
    {
      flags: '--immediately',
      description: 'sign with it at once, not after it has been published for a while',
    },
  ],
  async run({ options }, context) {
    const config = await context.config(['secret'])
    return withCore(config, async ({ oauth }) => {
      const { kid } = await oauth.keys.rotate({ immediately: options.immediately === true })
      const key = (await oauth.keys.list()).find((each) => each.kid === kid)
      const from = key?.activeFrom.toISOString() ?? ''
      return {
        json: { kid, active_from: from },
        text: `The new key ${kid} is published and signs from ${from}`,
      }
    })
  },
}
