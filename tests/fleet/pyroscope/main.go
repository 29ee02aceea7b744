// SPDX-License-Identifier: MIT

// A server of Pyroscope's push protocol, made of its generated stubs. It takes
// what Pyroscope takes and refuses what its documentation says it refuses by
// default. It writes a line for each profile, and for each refusal, to stdout.
//
//	usage: pyroscope ADDRESS
package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"regexp"
	"sync"
	"time"

	"connectrpc.com/connect"
	profilev1 "github.com/grafana/pyroscope/api/gen/proto/go/google/v1"
	pushv1 "github.com/grafana/pyroscope/api/gen/proto/go/push/v1"
	"github.com/grafana/pyroscope/api/gen/proto/go/push/v1/pushv1connect"
	"google.golang.org/protobuf/proto"
)

// The limits of Pyroscope's documentation.
const (
	sizeMost    = 4 << 20
	samplesMost = 16000
	namesMost   = 30
	nameMost    = 1024
	valueMost   = 2048
	oldest      = time.Hour
	newest      = 10 * time.Minute
)

var validName = regexp.MustCompile(`^[a-zA-Z_][a-zA-Z0-9_]*$`)

type server struct {
	lock sync.Mutex
	seen map[string]bool
}

func decode(raw []byte) (*profilev1.Profile, int, error) {
	if len(raw) > 1 && raw[0] == 0x1f && raw[1] == 0x8b {
		reader, err := gzip.NewReader(bytes.NewReader(raw))
		if err != nil {
			return nil, 0, err
		}
		if raw, err = io.ReadAll(reader); err != nil {
			return nil, 0, err
		}
	}
	profile := &profilev1.Profile{}
	return profile, len(raw), proto.Unmarshal(raw, profile)
}

// check returns what is wrong with the numbers in profile.
func check(profile *profilev1.Profile) error {
	texts := profile.StringTable
	if len(texts) == 0 || texts[0] != "" {
		return fmt.Errorf("string 0 is not empty")
	}
	functions, locations := map[uint64]bool{}, map[uint64]bool{}
	for _, function := range profile.Function {
		functions[function.Id] = true
	}
	for _, location := range profile.Location {
		locations[location.Id] = true
		for _, line := range location.Line {
			if !functions[line.FunctionId] {
				return fmt.Errorf("function %d is not there", line.FunctionId)
			}
		}
	}
	for _, sample := range profile.Sample {
		if len(sample.Value) != len(profile.SampleType) {
			return fmt.Errorf("a sample has %d values", len(sample.Value))
		}
		for _, id := range sample.LocationId {
			if !locations[id] {
				return fmt.Errorf("location %d is not there", id)
			}
		}
	}
	return nil
}

// most returns the most labels of a sample that count.
func most(profile *profilev1.Profile) int {
	found := 0
	for _, sample := range profile.Sample {
		count := 0
		for _, label := range sample.Label {
			key := profile.StringTable[label.Key]
			if label.Str != 0 && key != "span_id" && key != "trace_id" {
				count++
			}
		}
		found = max(found, count)
	}
	return found
}

func (s *server) take(labels map[string]string, sample *pushv1.RawSample) error {
	profile, size, err := decode(sample.RawProfile)
	if err != nil {
		return err
	}
	age := time.Since(time.Unix(0, profile.TimeNanos))
	names := len(labels) + most(profile)
	switch {
	case size > sizeMost:
		return fmt.Errorf("%d bytes", size)
	case len(profile.Sample) > samplesMost:
		return fmt.Errorf("%d samples", len(profile.Sample))
	case names > namesMost:
		return fmt.Errorf("%d label names", names)
	case age > oldest || age < -newest:
		return fmt.Errorf("%v old", age)
	}
	if err := check(profile); err != nil {
		return err
	}
	s.lock.Lock()
	defer s.lock.Unlock()
	if s.seen[sample.ID] {
		return nil
	}
	s.seen[sample.ID] = true
	sums := make([]int64, len(profile.SampleType))
	for _, one := range profile.Sample {
		for i, value := range one.Value {
			sums[i] += value
		}
	}
	spans := 0
	for _, one := range profile.Sample {
		for _, label := range one.Label {
			if profile.StringTable[label.Key] == "span_id" {
				spans++
			}
		}
	}
	fmt.Printf("profile %s %s %s %d samples %d bytes %d names %d spans",
		labels["service_name"], labels["__name__"], sample.ID,
		len(profile.Sample), size, names, spans)
	for i, kind := range profile.SampleType {
		fmt.Printf(" %s %d", profile.StringTable[kind.Type], sums[i])
	}
	fmt.Println()
	return nil
}

func (s *server) Push(_ context.Context, request *connect.Request[pushv1.PushRequest]) (*connect.Response[pushv1.PushResponse], error) {
	for _, series := range request.Msg.Series {
		labels := map[string]string{}
		for _, label := range series.Labels {
			if !validName.MatchString(label.Name) || len(label.Name) > nameMost ||
				len(label.Value) > valueMost || labels[label.Name] != "" {
				return refuse(fmt.Errorf("label %q", label.Name))
			}
			labels[label.Name] = label.Value
		}
		if labels["__name__"] == "" || labels["service_name"] == "" {
			return refuse(fmt.Errorf("no name, or no service"))
		}
		for _, sample := range series.Samples {
			if err := s.take(labels, sample); err != nil {
				return refuse(err)
			}
		}
	}
	return connect.NewResponse(&pushv1.PushResponse{}), nil
}

func refuse(err error) (*connect.Response[pushv1.PushResponse], error) {
	fmt.Println("refused:", err)
	return nil, connect.NewError(connect.CodeInvalidArgument, err)
}

func main() {
	listener, err := net.Listen("tcp", os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.Handle(pushv1connect.NewPusherServiceHandler(&server{seen: map[string]bool{}}))
	fmt.Println("http://" + listener.Addr().String())
	log.Fatal(http.Serve(listener, mux))
}
