import { createPasswords } from '../../../users/passwords.ts'
import { accountJson } from '../../../users/user.ts'
import { createUsers } from '../../../users/users.ts'
import type { Command } from '../../command.ts'
import { withTables } from '../../open.ts'

export const userList: Command = {
  summary: 'show the accounts',
  async run(_input, context) {
    const config = await context.config([])
    return withTables(config, ['service'], async (database) => {
      const users = createUsers({ database, passwords: createPasswords() })
      const rows = (await users.list()).map(accountJson)
      const lines = rows.map(({ id, email, name, operator, disabled_at }) => {
        const states = [...(operator ? ['operator'] : []), ...(disabled_at ? ['disabled'] : [])]
        return [id.padEnd(8), email.padEnd(40), (name ?? '').padEnd(24), states.join(', ')]
          .join('')
          .trimEnd()
      })
      return { json: rows, text: lines.join('\n') || 'There are no users' }
    })
  },
}
