// A shop that uses Stripe's SDK for Java. See ../../clients.mjs
import com.stripe.Stripe;
import com.stripe.StripeClient;
import com.stripe.exception.*;
import com.stripe.model.*;
import com.stripe.net.RequestOptions;
import com.stripe.param.*;
import com.stripe.param.checkout.SessionCreateParams.LineItem;
import com.stripe.param.testhelpers.TestClockAdvanceParams;
import com.stripe.param.testhelpers.TestClockCreateParams;
import com.stripe.service.V1Services;
import com.sun.net.httpserver.HttpServer;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.util.*;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.stream.Collectors;

class Shop {
  record Hook(String body, String signature) {}

  static final Queue<Hook> received = new ConcurrentLinkedQueue<>();
  static final String URL = System.getenv("STRIPE_URL");
  static final StripeClient client = open(System.getenv("STRIPE_KEY"));
  static final V1Services v1 = client.v1();

  static StripeClient open(String key) {
    return StripeClient.builder().setApiKey(key).setApiBase(URL).setMaxNetworkRetries(0).build();
  }

  static void ok(String step) {
    System.out.println("ok " + step);
  }

  static void same(Object found, Object expected) {
    if (!Objects.equals(found, expected)) throw new AssertionError(found + ", and not " + expected);
  }

  static <T extends StripeException> T raises(Class<T> kind, Callable<?> call) throws Exception {
    try {
      call.call();
    } catch (StripeException error) {
      same(error.getClass(), kind);
      return kind.cast(error);
    }
    throw new AssertionError("expected " + kind);
  }

  static void until(String what, Callable<Boolean> happened) throws Exception {
    for (int tries = 0; tries < 400; tries++) {
      if (happened.call()) return;
      Thread.sleep(50);
    }
    throw new AssertionError(what + " did not happen");
  }

  /** Sends a form of one of Stripe's pages, as a browser does. */
  static String submit(String page, Map<String, String> fields) throws Exception {
    String body = fields.entrySet().stream()
        .map(each -> each.getKey() + "=" + URLEncoder.encode(each.getValue(), StandardCharsets.UTF_8))
        .collect(Collectors.joining("&"));
    var request = HttpRequest.newBuilder(URI.create(page)).POST(HttpRequest.BodyPublishers.ofString(body))
        .header("content-type", "application/x-www-form-urlencoded").build();
    var response = HttpClient.newHttpClient().send(request, BodyHandlers.ofString());
    if (response.statusCode() >= 400) throw new AssertionError(response.statusCode() + response.body());
    return response.headers().firstValue("location").orElse("");
  }

  public static void main(String[] arguments) {
    try {
      run();
      System.exit(0);
    } catch (Throwable failure) {
      failure.printStackTrace();
      System.exit(1);
    }
  }

  static void run() throws Exception {
    System.out.println("version: " + Stripe.VERSION);
    System.out.println("speaks: " + Stripe.API_VERSION);
    var server = HttpServer.create(new InetSocketAddress("127.0.0.1", 0), 0);
    server.createContext("/", exchange -> {
      String body = new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8);
      received.add(new Hook(body, exchange.getRequestHeaders().getFirst("Stripe-Signature")));
      exchange.sendResponseHeaders(200, -1);
      exchange.close();
    });
    server.start();
    var endpoint = v1.webhookEndpoints().create(WebhookEndpointCreateParams.builder()
        .setUrl("http://127.0.0.1:" + server.getAddress().getPort() + "/")
        .addEnabledEvent(WebhookEndpointCreateParams.EnabledEvent.ALL)
        .putExtraParam("api_version", Stripe.API_VERSION).build());
    ok("webhook endpoint");

    long now = System.currentTimeMillis() / 1000 + 1;
    var clock = v1.testHelpers().testClocks().create(TestClockCreateParams.builder().setFrozenTime(now).build()).getId();
    Callable<Boolean> clockIsReady =
        () -> v1.testHelpers().testClocks().retrieve(clock).getStatus().equals("ready");
    until("the clock", clockIsReady);
    var customer = v1.customers().create(CustomerCreateParams.builder().setEmail("ada@example.com")
        .putMetadata("shop", "java").setTestClock(clock).build());
    same(customer.getLastResponse().headers().firstValue("stripe-version").get(), Stripe.API_VERSION);
    var ada = customer.getId();
    var card = v1.paymentMethods().attach("pm_card_visa", PaymentMethodAttachParams.builder().setCustomer(ada).build());
    v1.customers().update(ada, CustomerUpdateParams.builder().setInvoiceSettings(
        CustomerUpdateParams.InvoiceSettings.builder().setDefaultPaymentMethod(card.getId()).build()).build());
    ok("customer and card");

    var product = v1.products().create(ProductCreateParams.builder().setName("Gold").build());
    var prices = new ArrayList<String>();
    for (long amount : new long[] {1000, 3000}) {
      var monthly = PriceCreateParams.Recurring.builder().setInterval(PriceCreateParams.Recurring.Interval.MONTH);
      var price = v1.prices().create(PriceCreateParams.builder().setProduct(product.getId()).setCurrency("usd")
          .setUnitAmount(amount).setRecurring(monthly.build()).build());
      same(price.getUnitAmount(), amount);
      prices.add(price.getId());
    }
    ok("product and prices");

    var trial = v1.subscriptions().create(SubscriptionCreateParams.builder().setCustomer(ada)
        .addItem(SubscriptionCreateParams.Item.builder().setPrice(prices.get(0)).build())
        .setTrialPeriodDays(14L).addExpand("latest_invoice").build());
    same(trial.getStatus(), "trialing");
    same(trial.getLatestInvoiceObject().getTotal(), 0L);
    same(trial.getTrialEnd(), now + 14 * 86400);
    v1.testHelpers().testClocks().advance(clock,
        TestClockAdvanceParams.builder().setFrozenTime(trial.getTrialEnd() + 7200).build());
    until("the clock", clockIsReady);
    trial = v1.subscriptions().retrieve(trial.getId(),
        SubscriptionRetrieveParams.builder().addExpand("latest_invoice.payments").build());
    same(trial.getStatus(), "active");
    same(trial.getLatestInvoiceObject().getTotal(), 1000L);
    var intent = v1.paymentIntents().retrieve(
        trial.getLatestInvoiceObject().getPayments().getData().get(0).getPayment().getPaymentIntent(),
        PaymentIntentRetrieveParams.builder().addExpand("latest_charge.balance_transaction").build());
    same(intent.getLatestChargeObject().getBalanceTransactionObject().getNet(), 941L);
    ok("a trial that ends");

    var waiting = v1.subscriptions().create(SubscriptionCreateParams.builder().setCustomer(ada)
        .addItem(SubscriptionCreateParams.Item.builder().setPrice(prices.get(1)).build())
        .setPaymentBehavior(SubscriptionCreateParams.PaymentBehavior.DEFAULT_INCOMPLETE)
        .addExpand("latest_invoice.confirmation_secret").addExpand("latest_invoice.payments").build());
    same(waiting.getStatus(), "incomplete");
    var first = waiting.getLatestInvoiceObject();
    var unpaid = v1.paymentIntents().retrieve(first.getPayments().getData().get(0).getPayment().getPaymentIntent());
    same(first.getConfirmationSecret().getClientSecret(), unpaid.getClientSecret());
    v1.paymentIntents().confirm(unpaid.getId(), PaymentIntentConfirmParams.builder()
        .setPaymentMethod(card.getId()).setReturnUrl("https://shop.example/").build());
    same(v1.subscriptions().retrieve(waiting.getId()).getStatus(), "active");
    ok("default_incomplete, then confirmed");

    var declined = raises(CardException.class, () -> v1.paymentIntents().create(PaymentIntentCreateParams.builder()
        .setAmount(700L).setCurrency("usd").setPaymentMethod("pm_card_chargeDeclinedInsufficientFunds")
        .setConfirm(true).addPaymentMethodType("card").build()));
    same(declined.getDeclineCode(), "insufficient_funds");
    same(declined.getStripeError().getPaymentIntent().getStatus(), "requires_payment_method");
    var unknown = raises(InvalidRequestException.class,
        () -> v1.customers().create(CustomerCreateParams.builder().putExtraParam("colour", "red").build()));
    same(unknown.getCode() + " " + unknown.getParam(), "parameter_unknown colour");
    raises(AuthenticationException.class, () -> open("sk_test_wrong").v1().customers().list());
    same(raises(InvalidRequestException.class, () -> v1.invoices().retrieve("in_none")).getCode(), "resource_missing");
    ok("errors of each kind");

    var once = RequestOptions.builder().setIdempotencyKey("once").build();
    var bob = CustomerCreateParams.builder().setEmail("bob@example.com").build();
    same(v1.customers().create(bob, once).getId(), v1.customers().create(bob, once).getId());
    raises(IdempotencyException.class, () -> v1.customers().create(CustomerCreateParams.builder().build(), once));
    for (int each = 1; each <= 7; each++) {
      v1.customers().create(CustomerCreateParams.builder().setEmail("page@example.com").setName("Page " + each).build());
    }
    var names = new ArrayList<String>();
    var ofPages = CustomerListParams.builder().setEmail("page@example.com").setLimit(3L).build();
    for (Customer each : v1.customers().list(ofPages).autoPagingIterable()) names.add(each.getName());
    same(names, List.of("Page 7", "Page 6", "Page 5", "Page 4", "Page 3", "Page 2", "Page 1"));
    var query = CustomerSearchParams.builder().setQuery("metadata['shop']:'java'").build();
    same(v1.customers().search(query).getData().stream().map(Customer::getId).toList(), List.of(ada));
    ok("pages of lists, search, idempotency");

    var mug = LineItem.PriceData.builder().setCurrency("eur").setUnitAmount(450L)
        .setProductData(LineItem.PriceData.ProductData.builder().setName("Mug").build()).build();
    var session = v1.checkout().sessions().create(com.stripe.param.checkout.SessionCreateParams.builder()
        .setMode(com.stripe.param.checkout.SessionCreateParams.Mode.PAYMENT)
        .setSuccessUrl("https://shop.example/done?session={CHECKOUT_SESSION_ID}")
        .addLineItem(LineItem.builder().setQuantity(2L).setPriceData(mug).build()).build());
    same(submit(session.getUrl(), Map.of("action", "pay", "email", "bob@example.com", "card", "pm_card_visa")),
        "https://shop.example/done?session=" + session.getId());
    session = v1.checkout().sessions().retrieve(session.getId(), com.stripe.param.checkout.SessionRetrieveParams.builder()
        .addExpand("line_items.data.price.product").addExpand("payment_intent.payment_method").build());
    same(session.getAmountTotal(), 900L);
    same(session.getLineItems().getData().get(0).getPrice().getProductObject().getName(), "Mug");
    same(session.getPaymentIntentObject().getPaymentMethodObject().getCard().getLast4(), "4242");
    same(v1.refunds().create(RefundCreateParams.builder().setPaymentIntent(session.getPaymentIntent())
        .setAmount(300L).build()).getAmount(), 300L);
    ok("checkout, refund");

    v1.subscriptions().cancel(trial.getId());
    v1.customers().delete(ada);
    same(v1.customers().retrieve(ada).getDeleted(), true);
    var happened = new TreeSet<String>();
    var all = EventListParams.builder().setLimit(100L).build();
    for (Event event : v1.events().list(all).autoPagingIterable()) happened.add(event.getId());
    until("a webhook for each event", () -> received.size() >= happened.size());
    var told = new TreeSet<String>();
    for (Hook hook : received) {
      var event = client.constructEvent(hook.body(), hook.signature(), endpoint.getSecret());
      // The SDK returns an object only if all of it matches its types.
      if (event.getDataObjectDeserializer().getObject().isEmpty()) throw new AssertionError(event.getType());
      told.add(event.getId());
    }
    same(told, happened);
    raises(SignatureVerificationException.class, () -> client.constructEvent(
        received.peek().body() + " ", received.peek().signature(), endpoint.getSecret()));
    ok("a verified webhook for each event, read into types");
  }
}
