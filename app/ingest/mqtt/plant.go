package mqtt

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf8"

	paho "github.com/eclipse/paho.mqtt.golang"

	"opsmon/app/ingest/signal"
	"opsmon/app/ingest/transform"
	"opsmon/schema/strictjson"
)

// PlantConfig configures the client of the plant's own broker.
type PlantConfig struct {
	URL      *url.URL    // result of ParseBrokerURL
	TLS      *tls.Config // nil = default
	Username string
	Password func() (string, error) // called for each connection; nil = none
	ClientID string
	Topics   []string // topic filters
	Template *Topic   // extracts the station from topics; nil = the payload or the mapping contains it
	// Mapping derives signals from a message; nil = the payload is a signal.
	Mapping *transform.Evaluator
	// Account returns the account of the signals. Error: it is not known yet.
	Account func() (string, error)
	Log     *slog.Logger
}

// Limits for messages from the plant's broker, which is not under our control.
const (
	plantPayload  = 256 << 10 // maximum payload, in bytes; a larger one is truncated and refused
	plantSignals  = 1000      // maximum number of signals that a mapping may derive from one message
	plantWaiting  = 1000      // maximum number of unacknowledged messages
	plantRetry    = time.Second
	plantLongest  = time.Minute // maximum time between two attempts to connect
	plantFarewell = 250         // ms
)

// ParseBrokerURL parses the address of a broker: mqtt://host:1883 unencrypted, or mqtts://host:8883 over TLS. These
// ports are the defaults. Errors describe the problem.
func ParseBrokerURL(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "mqtt" && u.Scheme != "mqtts" || u.Hostname() == "" || u.User != nil || strings.Trim(u.Path, "/") != "" || u.RawQuery != "" || u.Fragment != "" {
		return nil, fmt.Errorf("must be mqtts:// or mqtt:// and a host, such as mqtts://broker.plant.example:8883; it is %q", text)
	}
	if u.Port() == "" {
		u.Host += map[string]string{"mqtt": ":1883", "mqtts": ":8883"}[u.Scheme]
	}
	u.Path = ""
	return u, nil
}

// CheckFilter returns the problem of a topic filter, or nil.
func CheckFilter(filter string) error {
	levels := strings.Split(filter, "/")
	for i, level := range levels {
		if strings.ContainsAny(level, "+#") && level != "+" && (level != "#" || i < len(levels)-1) {
			return fmt.Errorf("must have + only as a whole level and # only as the last level; it is %q", filter)
		}
	}
	if filter == "" || len(filter) > 512 || strings.ContainsRune(filter, 0) || !utf8.ValidString(filter) {
		return errors.New("must be 1 to 512 bytes of text")
	}
	return nil
}

// PlantStats are statistics of the client of the plant's broker, for metrics.
type PlantStats struct {
	Connected bool
	Messages  uint64
	Ignored   uint64 // messages without a result of the mapping
	Refused   uint64 // invalid messages
}

// Plant is a client of the plant's own broker. It reconnects indefinitely, with the same session, and acknowledges
// messages after they are stored: the broker retains those that arrive while it is disconnected, or while nothing can
// be stored.
type Plant struct {
	cfg    PlantConfig
	b      *Broker
	ctx    context.Context
	cancel context.CancelFunc
	work   sync.WaitGroup

	waiting chan struct{} // one element per unacknowledged message
	inputs  chan received
	acks    chan paho.Message

	up                         atomic.Bool
	link                       atomic.Uint64 // number of the connection
	messages, ignored, refused atomic.Uint64
	lastLogged                 atomic.Int64 // when a refusal was last logged, ms
}

// StartPlant connects to the plant's broker. Its signals are stored by the intake of b, which must be closed after
// it.
func StartPlant(b *Broker, cfg PlantConfig) *Plant {
	p := &Plant{cfg: cfg, b: b, waiting: make(chan struct{}, plantWaiting), inputs: make(chan received, plantWaiting), acks: make(chan paho.Message, plantWaiting)}
	p.ctx, p.cancel = context.WithCancel(context.Background())
	p.work.Go(p.stay)
	p.work.Go(p.judge)
	p.work.Go(p.acknowledge)
	return p
}

// stay keeps the client connected until it is closed.
func (p *Plant) stay() {
	rest := plantRetry
	for p.ctx.Err() == nil {
		lost := make(chan error, 1)
		c := paho.NewClient(p.options(lost))
		done := c.Connect()
		done.Wait() // it has its own timeouts
		if err := done.Error(); err != nil {
			if p.mayLog() {
				p.cfg.Log.Warn("connecting to the plant's broker failed; will retry", slog.String("broker", p.cfg.URL.Host), slog.Any("error", err))
			}
		} else {
			p.up.Store(true)
			began := time.Now()
			p.subscribe(c)
			select {
			case err := <-lost:
				p.cfg.Log.Warn("connection to the plant's broker lost; will reconnect", slog.String("broker", p.cfg.URL.Host), slog.Any("error", err))
			case <-p.ctx.Done():
			}
			p.up.Store(false)
			p.link.Add(1)
			if time.Since(began) > plantLongest {
				rest = plantRetry
			}
		}
		c.Disconnect(plantFarewell)
		sleep(p.ctx, rest)
		rest = min(2*rest, plantLongest)
	}
}

func (p *Plant) options(lost chan<- error) *paho.ClientOptions {
	scheme := map[string]string{"mqtt": "tcp", "mqtts": "ssl"}[p.cfg.URL.Scheme]
	o := paho.NewClientOptions().AddBroker(scheme + "://" + p.cfg.URL.Host).SetClientID(p.cfg.ClientID).SetCleanSession(false).SetProtocolVersion(4).
		SetAutoReconnect(false).SetConnectRetry(false).
		SetConnectTimeout(defaultConnect).SetWriteTimeout(defaultWrite).SetKeepAlive(30 * time.Second).SetPingTimeout(defaultWrite).
		SetAutoAckDisabled(true).SetOrderMatters(true).SetDefaultPublishHandler(p.receive).SetCustomOpenConnectionFn(p.dial).
		SetConnectionLostHandler(func(_ paho.Client, err error) { lost <- err })
	return o.SetCredentialsProvider(p.credentials)
}

// Close closes the connection. Unacknowledged messages are sent again when a client with the same id connects.
func (p *Plant) Close() {
	p.cancel()
	p.work.Wait()
}

// Stats returns the client's statistics.
func (p *Plant) Stats() PlantStats {
	return PlantStats{Connected: p.up.Load(), Messages: p.messages.Load(), Ignored: p.ignored.Load(), Refused: p.refused.Load()}
}

func (p *Plant) credentials() (username, password string) {
	if p.cfg.Password == nil {
		return p.cfg.Username, ""
	}
	password, err := p.cfg.Password()
	if err != nil {
		p.cfg.Log.Error("reading the password for the plant's broker failed", slog.Any("error", err))
	}
	return p.cfg.Username, password
}

// subscribe subscribes on each connection, because the broker may have lost the session.
func (p *Plant) subscribe(c paho.Client) {
	p.cfg.Log.Info("connected to the plant's broker", slog.String("broker", p.cfg.URL.Host))
	filters := map[string]byte{}
	for _, filter := range p.cfg.Topics {
		filters[filter] = 1
	}
	done := c.SubscribeMultiple(filters, nil)
	if !done.WaitTimeout(defaultConnect) {
		return // the connection was lost, or will be closed after a timeout
	}
	if err := done.Error(); err != nil {
		p.cfg.Log.Error("the plant's broker refused a subscription", slog.Any("error", err))
		return
	}
	for filter, code := range done.(*paho.SubscribeToken).Result() {
		if code > 2 {
			p.cfg.Log.Error("the plant's broker refused a subscription", slog.String("topic", filter))
		}
	}
}

// received is a message and the number of its connection.
type received struct {
	paho.Message
	link uint64
}

// receive queues a message. It is called sequentially, and blocks while there are too many unacknowledged messages.
func (p *Plant) receive(_ paho.Client, m paho.Message) {
	select {
	case p.waiting <- struct{}{}:
		p.inputs <- received{m, p.link.Load()} // never blocks: waiting limits the number
	case <-p.ctx.Done():
	}
}

// done queues the acknowledgement of a message.
func (p *Plant) done(m paho.Message) {
	p.acks <- m // never blocks: waiting limits the number
}

// acknowledge sends acknowledgements in its own goroutine, because sending may block on the network.
func (p *Plant) acknowledge() {
	for {
		select {
		case <-p.ctx.Done():
			return
		case m := <-p.acks:
			m.Ack() // has no effect for an earlier connection, and the message is sent again
			<-p.waiting
		}
	}
}

// judge validates messages sequentially and queues their signals in the intake.
func (p *Plant) judge() {
	senders := map[string]*sender{}
	for {
		select {
		case <-p.ctx.Done():
			return
		case m := <-p.inputs:
			if m.link != p.link.Load() && m.Qos() > 0 {
				<-p.waiting // it will be sent again
				continue
			}
			p.messages.Add(1)
			for !p.take(m.Message, senders) {
				if !sleep(p.ctx, plantRetry) {
					return
				}
			}
		}
	}
}

// take processes one message; false if it must be retried.
func (p *Plant) take(m paho.Message, senders map[string]*sender) bool {
	accountID, err := p.cfg.Account()
	if err != nil {
		p.tell("signals of the plant's broker wait", err)
		return false
	}
	s := senders[accountID]
	if s == nil {
		s = &sender{account: accountID, source: "broker:" + p.cfg.ClientID, device: "broker"}
		senders[accountID] = s
	}
	objects, why, err := p.objects(m)
	switch {
	case err != nil:
		p.tell("the mapping of the plant's broker cannot be evaluated", err)
		return false
	case why.issue != "":
		p.refused.Add(1)
		p.b.cfg.Signals.NoteRefused(s.signal(nil), why.cause, why.issue, 1)
		p.tell("a message from the plant's broker is not a signal", errors.New(m.Topic()+": "+why.issue))
		p.done(m)
		return true
	case len(objects) == 0:
		p.ignored.Add(1)
		p.done(m)
		return true
	}
	return p.b.cfg.Signals.Await(p.ctx, s.account, s.source) == nil && p.put(m, s, objects)
}

// put queues signals in the intake, and retries those that could not be stored.
func (p *Plant) put(m paho.Message, s *sender, objects []any) bool {
	var answer func(outcomes []signal.Outcome, err error)
	answer = func(outcomes []signal.Outcome, err error) {
		if err != nil {
			time.AfterFunc(plantRetry, func() { p.b.in.put(p.ctx, message{from: s, objects: objects, answer: answer}) })
			return
		}
		for _, o := range outcomes {
			if !o.Accepted {
				p.refused.Add(1)
				p.tell("a message from the plant's broker is not a signal", errors.New(m.Topic()+": "+o.Issue))
				break
			}
		}
		p.done(m)
	}
	return p.b.in.put(p.ctx, message{from: s, objects: objects, answer: answer})
}

// objects returns the decoded signals of a message. After an error it may be retried.
func (p *Plant) objects(m paho.Message) (list []any, why refusal, err error) {
	payload := m.Payload()
	if len(payload) > plantPayload {
		return nil, refusal{signal.CauseMalformed, fmt.Sprintf("has more than %d bytes", plantPayload)}, nil
	}
	station := ""
	if p.cfg.Template != nil {
		_, code, ok := p.cfg.Template.match(m.Topic())
		if !ok {
			return nil, refusal{signal.CauseForeign, "the topic does not fit the template"}, nil
		}
		station = code
	}
	if p.cfg.Mapping == nil {
		object, why := objectOf(payload, station)
		return []any{object}, why, nil
	}
	input := json.RawMessage(payload)
	if !json.Valid(payload) {
		if input, err = json.Marshal(strings.ToValidUTF8(string(payload), "\uFFFD")); err != nil {
			return nil, refusal{signal.CauseMalformed, "is no text"}, nil
		}
	}
	value, err := p.cfg.Mapping.Evaluate(p.ctx, input, map[string]string{"topic": m.Topic(), "station": station})
	if bad := (*transform.InputError)(nil); errors.As(err, &bad) {
		return nil, refusal{signal.CauseMalformed, bad.Error()}, nil
	}
	if err != nil || value == nil {
		return nil, refusal{}, err
	}
	list, why = mapped(value, station)
	return list, why, nil
}

// mapped decodes a mapping's result: an object or an array of objects.
func mapped(value []byte, station string) (list []any, why refusal) {
	v, err := strictjson.Decode(value)
	if err != nil {
		return nil, refusal{signal.CauseMalformed, "the result of the mapping cannot be read: " + err.Error()}
	}
	list, ok := v.([]any)
	if !ok {
		list = []any{v}
	}
	if len(list) > plantSignals {
		return nil, refusal{signal.CauseMalformed, fmt.Sprintf("the mapping returned %d signals; the limit is %d", len(list), plantSignals)}
	}
	for _, v := range list {
		if object, ok := v.(map[string]any); ok {
			if _, named := object["station_code"]; !named && object["stationCode"] == nil && station != "" {
				object["station_code"] = station
			}
		}
	}
	return list, refusal{}
}

// mayTell limits the log messages that could occur for each message: it reports whether one may be logged now.
func (p *Plant) mayLog() bool {
	now, last := time.Now().UnixMilli(), p.lastLogged.Load()
	return now-last >= time.Minute.Milliseconds() && p.lastLogged.CompareAndSwap(last, now)
}

func (p *Plant) tell(what string, err error) {
	if p.mayLog() {
		p.cfg.Log.Warn(what, slog.Any("error", err))
	}
}
