import type { Command } from './command.ts'
import { billingSync } from './commands/billing-sync.ts'
import { clientCreate } from './commands/client-create.ts'
import { clientList } from './commands/client-list.ts'
import { clientRevoke } from './commands/client-revoke.ts'
import { doctor } from './commands/doctor.ts'
import { keysReseal } from './commands/keys-reseal.ts'
import { keysRevoke } from './commands/keys-revoke.ts'
import { keysRotate } from './commands/keys-rotate.ts'
import { migrateCommand } from './commands/migrate.ts'
import { purge } from './commands/purge.ts'
import { restoreFinish } from './commands/restore-finish.ts'
import { sandbox } from './commands/sandbox.ts'
import { serveCommand } from './commands/serve.ts'
import { userCreate } from './commands/user-create.ts'
import { userDelete } from './commands/user-delete.ts'
import { userDisable, userEnable } from './commands/user-disable.ts'
import { userList } from './commands/user-list.ts'
import { userPassword } from './commands/user-password.ts'

/** Every command by its words. `docs/reference/service.md` lists the same ones. */
export const commands: Readonly<Record<string, Command>> = {
  serve: serveCommand,
  migrate: migrateCommand,
  'user create': userCreate,
  'user list': userList,
  'user password': userPassword,
  'user disable': userDisable,
  'user enable': userEnable,
  'user delete': userDelete,
  'client create': clientCreate,
  'client list': clientList,
  'client revoke': clientRevoke,
  'keys rotate': keysRotate,
  'keys revoke': keysRevoke,
  'keys reseal': keysReseal,
  'restore-finish': restoreFinish,
  purge,
  'billing sync': billingSync,
  doctor,
  sandbox,
}
