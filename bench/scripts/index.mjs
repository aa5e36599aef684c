import { authorize } from './authorize.mjs'
import { discovery } from './discovery.mjs'
import { dpop, dpopUserinfo } from './dpop.mjs'
import { guarded } from './guarded.mjs'
import { introspect } from './introspect.mjs'
import { issue } from './issue.mjs'
import { openid } from './openid.mjs'
import { pushed } from './pushed.mjs'
import { refresh } from './refresh.mjs'
import { userinfo } from './userinfo.mjs'

export const scripts = {
  authorize,
  discovery,
  dpop,
  dpopUserinfo,
  guarded,
  introspect,
  issue,
  openid,
  pushed,
  refresh,
  userinfo,
}
