"""A shop that uses any version of Stripe's SDK for Python. See ../../clients.mjs"""
import http.server
import json
import os
import threading
import time
import urllib.parse
import urllib.request

import stripe

VERSION = stripe.VERSION if hasattr(stripe, 'VERSION') else stripe._version.VERSION
MAJOR = int(VERSION.split('.')[0])
SPEAKS = stripe.api_version
client = stripe.StripeClient(os.environ['STRIPE_KEY'], base_addresses={'api': os.environ['STRIPE_URL']},
                             max_network_retries=0)
api = getattr(client, 'v1', client)
received = []


def ok(step):
    print('ok', step, flush=True)


def until(what, find):
    for _ in range(400):
        found = find()
        if found:
            return found
        time.sleep(0.05)
    raise SystemExit('%s did not happen' % what)


class Receiver(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        received.append((self.rfile.read(int(self.headers['content-length'])), self.headers['stripe-signature']))
        self.send_response(200)
        self.end_headers()

    def log_message(self, *_):
        pass


class NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_):
        return None


def submit(url, fields):
    """Submits a form of one of Stripe's pages, like a browser."""
    token = urllib.parse.parse_qs(urllib.parse.urlparse(url).query).get('token')
    body = urllib.parse.urlencode({**({'token': token[0]} if token else {}), **fields}).encode()
    try:
        urllib.request.build_opener(NoRedirect).open(url, body)
    except urllib.error.HTTPError as error:
        assert error.code == 303 or error.code == 302, (error.code, error.read()[:300])


def raises(kind, call):
    try:
        call()
    except kind as error:
        return error
    raise SystemExit('expected %s' % kind.__name__)


# Names that earlier versions have for the same parameters
def promotion(coupon):
    return {'coupon': coupon} if MAJOR < 13 else {'promotion': {'type': 'coupon', 'coupon': coupon}}


def coupon_of(discount):
    return discount.coupon.id if MAJOR < 13 else discount.source.coupon


CARDS = {'payment_method_types' if MAJOR < 16 else 'allowed_payment_method_types': ['card']}
ANCHOR_NOW = 'now' if MAJOR < 16 else {'type': 'now'}

print('version:', VERSION)
print('speaks:', SPEAKS)
server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Receiver)
threading.Thread(target=server.serve_forever, daemon=True).start()
endpoint = api.webhook_endpoints.create(params={
    'url': 'http://127.0.0.1:%d/' % server.server_port,
    'enabled_events': ['*'],
    'api_version': SPEAKS,
})
ok('webhook endpoint')

clock = api.test_helpers.test_clocks.create(params={'frozen_time': int(time.time()) + 1})


def clock_is_ready():
    until('the clock', lambda: api.test_helpers.test_clocks.retrieve(clock.id).status == 'ready')


clock_is_ready()
customer = api.customers.create(params={
    'email': 'ada@example.com',
    'name': 'Ada',
    'metadata': {'shop': 'python'},
    'test_clock': clock.id,
})
assert customer.last_response.headers['stripe-version'] == SPEAKS
card = api.payment_methods.attach('pm_card_visa', params={'customer': customer.id})
api.customers.update(customer.id, params={'invoice_settings': {'default_payment_method': card.id}})
ok('customer and card')

product = api.products.create(params={'name': 'Gold'})
gold, platinum = [
    api.prices.create(params={
        'product': product.id,
        'currency': 'usd',
        'unit_amount': amount,
        'recurring': {'interval': 'month'},
    })
    for amount in (1000, 3000)
]
assert [gold.unit_amount, platinum.unit_amount] == [1000, 3000]
ok('product and prices')

coupon = api.coupons.create(params={'percent_off': 20, 'duration': 'forever'})
code = api.promotion_codes.create(params={**promotion(coupon.id), 'code': 'OFF'})
subscription = api.subscriptions.create(params={
    'customer': customer.id,
    'items': [{'price': gold.id}],
    'discounts': [{'promotion_code': code.id}],
    'expand': ['latest_invoice.payments', 'discounts'],
})
assert subscription.status == 'active'
assert subscription.latest_invoice.total == 800
assert subscription.latest_invoice.payments.data[0].status == 'paid'
assert coupon_of(subscription.discounts[0]) == coupon.id
item = subscription['items'].data[0]
assert item.current_period_end > subscription.start_date
ok('subscription with a promotion code')

body, signature = until('invoice.paid', lambda: next(
    (hook for hook in received if json.loads(hook[0])['type'] == 'invoice.paid'), None))
event = client.construct_event(body, signature, endpoint.secret)
assert event.type == 'invoice.paid' and event.api_version == SPEAKS
assert event.data.object.total == 800
ok('verified webhook')

items = [{'id': item.id, 'price': platinum.id}]
preview = api.invoices.create_preview(params={
    'subscription': subscription.id,
    'subscription_details': {'items': items, 'proration_behavior': 'always_invoice'},
})
swapped = api.subscriptions.update(subscription.id, params={
    'items': items,
    'proration_behavior': 'always_invoice',
    'expand': ['latest_invoice'],
})
assert preview.total == 1600, preview.total
assert (swapped.latest_invoice.status, swapped.latest_invoice.total) == ('paid', 1600)
ok('preview and swap')

api.test_helpers.test_clocks.advance(clock.id, params={'frozen_time': item.current_period_end + 2 * 3600})
clock_is_ready()
renewal = api.invoices.list(params={'subscription': subscription.id, 'limit': 1}).data[0]
assert (renewal.billing_reason, renewal.status, renewal.total) == ('subscription_cycle', 'paid', 2400)
ok('renewal on a test clock')

moved = api.subscriptions.update(subscription.id, params={
    'billing_cycle_anchor': ANCHOR_NOW,
    'proration_behavior': 'none',
})
assert moved.billing_cycle_anchor > subscription.billing_cycle_anchor
ok('another anchor')

intent = api.payment_intents.create(params={
    'amount': 700,
    'currency': 'usd',
    'customer': customer.id,
    'payment_method': card.id,
    'confirm': True,
    'expand': ['latest_charge.balance_transaction'],
    **CARDS,
})
assert intent.status == 'succeeded'
assert (intent.latest_charge.balance_transaction.fee, intent.latest_charge.balance_transaction.net) == (50, 650)
refund = api.refunds.create(params={'payment_intent': intent.id, 'amount': 300})
assert (refund.status, refund.amount) == ('succeeded', 300)
charge = api.charges.retrieve(intent.latest_charge.id)
assert (charge.amount, charge.amount_refunded, charge.refunded) == (700, 300, False)
ok('payment and refund')


def pay_with(card):
    return api.payment_intents.create(params={
        'amount': 700,
        'currency': 'usd',
        'payment_method': card,
        'confirm': True,
        **CARDS,
    })


assert raises(stripe.CardError, lambda: pay_with('pm_card_chargeDeclined')).code == 'card_declined'
ok('declined card')
asked = pay_with('pm_card_authenticationRequired')
assert (asked.status, asked.next_action.type) == ('requires_action', 'use_stripe_sdk')
ok('3-D Secure')

session = api.checkout.sessions.create(params={
    'mode': 'subscription',
    'success_url': 'https://shop.example/done',
    'line_items': [{'price': gold.id, 'quantity': 2}],
    **CARDS,
})
submit(session.url, {'action': 'pay', 'email': 'bob@example.com', 'card': 'pm_card_visa'})
done = api.checkout.sessions.retrieve(session.id, params={'expand': ['subscription']})
assert (done.status, done.payment_status, done.amount_total) == ('complete', 'paid', 2000)
assert done.subscription['items'].data[0].quantity == 2
ok('checkout')

portal = api.billing_portal.sessions.create(params={
    'customer': customer.id,
    'return_url': 'https://shop.example/account',
    'flow_data': {'type': 'subscription_cancel', 'subscription_cancel': {'subscription': subscription.id}},
})
submit(portal.url, {'action': 'cancel', 'subscription': subscription.id})
leaving = api.subscriptions.retrieve(subscription.id)
assert (leaving.status, leaving.cancel_at) == ('active', leaving['items'].data[0].current_period_end)
ok('portal')

for each in range(1, 6):
    made = [
        api.tax_rates.create(
            params={'display_name': 'VAT', 'percentage': each, 'inclusive': False},
            options={'idempotency_key': 'tax-rate-%d' % each},
        ).id
        for _ in range(2)
    ]
    assert made[0] == made[1]
rates = [rate.percentage for rate in api.tax_rates.list(params={'limit': 2}).auto_paging_iter()]
assert rates == [5, 4, 3, 2, 1], rates
found = api.customers.search(params={'query': 'metadata["shop"]:"python"'})
assert [each.id for each in found.data] == [customer.id]
ok('pages of lists, search, idempotency')

destination = client.v2.core.event_destinations.create(params={
    'name': 'Thin', 'type': 'webhook_endpoint', 'event_payload': 'thin', 'enabled_events': ['v1.product.created'],
    'webhook_endpoint': {'url': 'http://127.0.0.1:9/'},
})
products = [api.products.create(params={'name': 'Silver %d' % each}).id for each in range(3)]
client.v2.core.event_destinations.delete(destination.id)
thin = client.v2.core.events.list(params={'object_id': products[1]}).data
assert [(each.type, each.related_object.id) for each in thin] == [('v1.product.created', products[1])]
paged = client.v2.core.events.list(params={'limit': 1, **({'object_id': products[1]} if MAJOR < 14 else {'types': ['v1.product.created']})})
told = [each.related_object.id for each in paged.auto_paging_iter()]
assert told == ([products[1]] if MAJOR < 14 else list(reversed(products))), told
wrong = raises(stripe.InvalidRequestError, lambda: client.v2.core.events.list(params={'object_id': 'x', 'limit': 0}))
assert wrong.code == 'invalid_fields', wrong.code
ok('thin events of v2')

meter = api.billing.meters.create(params={
    'display_name': 'Calls', 'event_name': 'calls', 'default_aggregation': {'formula': 'sum'},
})
usage = {'event_name': 'calls', 'payload': {'stripe_customer_id': customer.id, 'value': '3'}}
made = client.v2.billing.meter_events.create(params={**usage, 'identifier': 'once'})
assert (made.object, made.identifier) == ('v2.billing.meter_event', 'once')
again = raises(stripe.InvalidRequestError, lambda: client.v2.billing.meter_events.create(params={**usage, 'identifier': 'once'}))
assert again.code == 'duplicate_meter_event', again.code
session = client.v2.billing.meter_event_session.create()
stream = stripe.StripeClient(session.authentication_token, base_addresses={
    'api': os.environ['STRIPE_URL'], 'meter_events': os.environ['STRIPE_URL']})
stream.v2.billing.meter_event_stream.create(params={'events': [usage, usage]})
client.v2.billing.meter_event_adjustments.create(
    params={'event_name': 'calls', 'type': 'cancel', 'cancel': {'identifier': 'once'}})
at = int(api.test_helpers.test_clocks.retrieve(clock.id).frozen_time) // 60 * 60
summaries = api.billing.meters.event_summaries.list(
    meter.id, params={'customer': customer.id, 'start_time': at - 60, 'end_time': at + 60}).data
assert sum(each.aggregated_value for each in summaries) == 6, summaries
ok('usage by v2')

invoice = api.invoices.list(params={'subscription': subscription.id, 'limit': 1}).data[0]
note = api.credit_notes.create(params={'invoice': invoice.id, 'amount': 100, 'credit_amount': 100})
assert note.total == 100
assert api.customers.retrieve(customer.id).balance == -100
ok('credit note')

assert api.subscriptions.cancel(subscription.id).status == 'canceled'
assert api.customers.delete(customer.id).deleted
missing = raises(stripe.InvalidRequestError, lambda: api.subscriptions.retrieve('sub_none'))
assert missing.code == 'resource_missing'
ok('the end')

events = sorted(event.id for event in api.events.list(params={'limit': 100}).auto_paging_iter())
assert len(events) > 50
until('every webhook', lambda: len(received) >= len(events))
assert sorted(json.loads(body)['id'] for body, _ in received) == events
ok('a webhook for each event')
