import { requireEmail } from '../../../users/parse.ts'
import { createPasswords } from '../../../users/passwords.ts'
import { createUsers } from '../../../users/users.ts'
import { type Command, textOption, UsageError } from '../../command.ts'
import { migrateOwn, withDatabase } from '../../open.ts'

export const userCreate: Command = {
  summary: 'make an account',
  options: [
    { flags: '--email <address>', description: 'to sign in with', required: true },
    {
      flags: '--password <text>',
      description: 'better left out and sent on standard input, which no list of processes shows',
    },
    { flags: '--name <text>', description: 'shown on the pages' },
    { flags: '--operator', description: 'may see the overview of the whole service' },
  ],
  async run(input, context) {
    // Before anybody types a password for nothing.
    requireEmail(textOption(input, 'email') ?? '')
    const password = textOption(input, 'password') ?? (await readPassword(context.readInput))
    const config = await context.config([])
    return withDatabase(config, async (database) => {
      await migrateOwn(database)
      const users = createUsers({ database, passwords: createPasswords() })
      const { id, email } = await users.create({
        email: textOption(input, 'email') ?? '',
        password,
        name: textOption(input, 'name'),
        operator: input.options.operator === true,
      })
      return { json: { id, email }, text: `Made the user ${id} (${email})` }
    })
  },
}

export async function readPassword(readInput: () => Promise<string | null>): Promise<string> {
  const password = await readInput()
  if (password === null) {
    throw new UsageError('Give --password <text>, or send it on standard input: echo … | tollgate')
  }
  if (password === '') throw new UsageError('Standard input holds no password; or give --password')
  return password
}
