import type { Commands } from '../command.ts'
import { auditCommands } from './audit.ts'
import { catalogCommands } from './billing-catalog.ts'
import { creditNoteCommands } from './billing-credit-notes.ts'
import { deliveryCommands } from './billing-deliveries.ts'
import { disputeCommands } from './billing-disputes.ts'
import { giftCommands } from './billing-gifts.ts'
import { subscriptionChangeCommands } from './billing-subscription-changes.ts'
import { subscriptionCommands } from './billing-subscriptions.ts'
import { billingSync } from './billing-sync.ts'
import { taxCommands } from './billing-taxes.ts'
import { webhookCommands } from './billing-webhooks.ts'
import { clientCommands } from './client.ts'
import { completionCommand } from './completion.ts'
import { databaseCommands } from './database.ts'
import { doctorCommand } from './doctor.ts'
import { initCommand } from './init.ts'
import { keyCommands } from './keys.ts'
import { mailCommands } from './mail.ts'
import { planCommands } from './plans.ts'
import { sandboxCommand } from './sandbox.ts'
import { serveCommand } from './serve.ts'
import { teamCommands } from './team.ts'
import { tokenCommands } from './token.ts'
import { userCommands } from './user.ts'
import { userAccessCommands } from './user-access.ts'

/** Every command by its full name. `docs/reference/service.md` lists the same commands. */
export const commands: Commands = {
  init: initCommand,
  serve: serveCommand,
  ...userCommands,
  ...userAccessCommands,
  ...teamCommands,
  ...clientCommands,
  ...tokenCommands,
  ...keyCommands,
  ...auditCommands,
  ...databaseCommands,
  ...planCommands,
  ...catalogCommands,
  ...subscriptionCommands,
  'billing sync': billingSync,
  ...subscriptionChangeCommands,
  ...giftCommands,
  ...taxCommands,
  ...creditNoteCommands,
  ...disputeCommands,
  ...webhookCommands,
  ...deliveryCommands,
  ...mailCommands,
  doctor: doctorCommand,
  sandbox: sandboxCommand,
  completion: completionCommand(() => commands),
}
