import { setPassword } from '../../../users/end-account.ts'
import { type Command, textOption } from '../../command.ts'
import { ACCOUNT, requireAccount } from '../../find-account.ts'
import { withCore } from '../../open.ts'
import { readPassword } from './create.ts'

export const userPassword: Command = {
  summary: 'give an account a new password; its sessions and tokens end',
  arguments: [ACCOUNT],
  options: [
    {
      flags: '--password <text>',
      description: 'better left out and sent on standard input, which no list of processes shows',
    },
  ],
  async run(input, context) {
    const config = await context.config(['secret'])
    return withCore(config, async (core) => {
      const { id, email } = await requireAccount(core.users, input.args[0] ?? '')
      const password = textOption(input, 'password') ?? (await readPassword(context.readInput))
      await setPassword(core, id, password)
      const text = `Changed the password of ${email} (${id}). All their sessions and tokens have ended.`
      return { json: { id, email }, text }
    })
  },
}
