import type { Command } from '../command.ts'
import { billingDeliveriesList, billingDeliveriesResend } from './billing/deliveries.ts'
import { billingSync } from './billing/sync.ts'
import {
  billingWebhooksCheck,
  billingWebhooksCreate,
  billingWebhooksReplay,
} from './billing/webhooks.ts'
import { clientCreate } from './client/create.ts'
import { clientList } from './client/list.ts'
import { clientRevoke } from './client/revoke.ts'
import { clientVerify } from './client/verify.ts'
import { clockRepair } from './clock-repair.ts'
import { doctor } from './doctor.ts'
import { keysReseal } from './keys/reseal.ts'
import { keysRevoke } from './keys/revoke.ts'
import { keysRotate } from './keys/rotate.ts'
import { migrateCommand } from './migrate.ts'
import { purge } from './purge.ts'
import { restoreFinish } from './restore-finish.ts'
import { sandbox } from './sandbox.ts'
import { serveCommand } from './serve.ts'
import { userCreate } from './user/create.ts'
import { userDelete } from './user/delete.ts'
import { userDisable, userEnable } from './user/disable.ts'
import { userList } from './user/list.ts'
import { userPassword } from './user/password.ts'

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
  'client verify': clientVerify,
  'client revoke': clientRevoke,
  'keys rotate': keysRotate,
  'keys revoke': keysRevoke,
  'keys reseal': keysReseal,
  'clock repair': clockRepair,
  'restore-finish': restoreFinish,
  purge,
  'billing sync': billingSync,
  'billing webhooks check': billingWebhooksCheck,
  'billing webhooks create': billingWebhooksCreate,
  'billing webhooks replay': billingWebhooksReplay,
  'billing deliveries list': billingDeliveriesList,
  'billing deliveries resend': billingDeliveriesResend,
  doctor,
  sandbox,
}
