import { clockPage } from './clock.ts'
import { customerPage } from './customer.ts'
import { customersPage } from './customers.ts'
import { deliveryPage } from './delivery.ts'
import { eventPage } from './event.ts'
import { eventsPage } from './events.ts'
import { mailPage } from './mail.ts'
import { mailboxPage } from './mailbox.ts'
import { objectPage } from './object.ts'
import { overviewPage } from './overview.ts'
import type { ControlRoomPage } from './page.ts'
import { troublePage } from './trouble.ts'
import { webhooksPage } from './webhooks.ts'
import { whatIfPage } from './what-if.ts'

/**
 * Pages of the control room by path. The path with `.json` appended returns the data of the page.
 */
export const CONTROL_ROOM_PAGES: Readonly<Record<string, ControlRoomPage>> = {
  '/': overviewPage,
  '/customers': customersPage,
  '/customers/:provider/:id': customerPage,
  '/customers/:provider/:id/what-if': whatIfPage,
  '/webhooks': webhooksPage,
  '/webhooks/:id': deliveryPage,
  '/mail': mailboxPage,
  '/mail/:id': mailPage,
  '/events': eventsPage,
  '/events/:id': eventPage,
  '/objects/:id': objectPage,
  '/clock': clockPage,
  '/trouble': troublePage,
}
